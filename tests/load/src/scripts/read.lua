-- Reads addresses at random.
-- Arguments: a file of addresses (one a line; behind a tab the ETag to send), the host, the bearer.
local threads = 0
local requests = {}

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  math.randomseed(number)
  for line in io.lines(args[1]) do
    local path, etag = line:match("^([^\t]*)\t?(.*)$")
    local headers = { ["Host"] = args[2], ["Authorization"] = "Bearer " .. args[3] }
    if etag ~= "" then headers["If-None-Match"] = etag end
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end

function request()
  return requests[math.random(#requests)]
end
