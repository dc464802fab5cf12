-- Reads addresses at random.
-- Arguments: a file of addresses (one a line; behind a tab the ETag to send), the host, the bearer, and whether each
-- request has a parameter that no other has ("computed"): then no cached response answers it.
local threads = 0
local requests = {}

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  math.randomseed(number)
  computed = args[4] == "computed"
  count = args[5] or ""
  for line in io.lines(args[1]) do
    local path, etag = line:match("^([^\t]*)\t?(.*)$")
    local headers = { ["Host"] = args[2], ["Authorization"] = "Bearer " .. args[3] }
    if etag ~= "" then headers["If-None-Match"] = etag end
    if computed then
      local sign = path:find("?", 1, true) and "&" or "?"
      requests[#requests + 1] = { path = path .. sign .. "unused=" .. count .. "." .. number .. ".", headers = headers }
    else
      requests[#requests + 1] = wrk.format("GET", path, headers)
    end
  end
end

function request()
  local request = requests[math.random(#requests)]
  if not computed then return request end
  sent = (sent or 0) + 1
  return wrk.format("GET", request.path .. sent, request.headers)
end
