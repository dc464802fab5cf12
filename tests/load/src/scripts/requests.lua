
-- Sends the requests of `plan`, which stands before this text: templates whose names in angle brackets are replaced
-- (`src/plan.rs` has the same rules for single requests).
local threads = 0

function setup(thread)
  thread:set("number", threads)
  thread.addr = wrk.lookup("127.0.0.1", ports[threads % #ports + 1])[1]
  threads = threads + 1
end

local turn = 0         -- the number of the request, among those of all threads
local sample = 0       -- the number of the recorded proposal
local dates, readers, voters = {}, {}, {}

local function choose(count)
  return math.random(count) - 1
end

local function pair()
  return plan.pair + turn
end

local fill = {
  n = function() return plan.run .. "." .. turn end,
  proposal = function() return plan.first + choose(plan.proposals) end,
  sample = function() return plan.first + sample * plan.stride end,
  page = function() return 1 + choose(plan.pages) end,
  voted = function() return plan.first + pair() % plan.proposals end,
  role = function() return plan.roles[(plan.role + turn) % 4 + 1] end,
  user = function() return plan.first_user + math.floor((plan.role + turn) / 4) % plan.users end,
  space = function()
    return plan.first_space + math.floor((plan.role + turn) / 4 / plan.users) % plan.spaces
  end,
}

local function compile(template)
  local parts, from = {}, 1
  for text, name, to in template:gmatch("([^<]*)<(%a+)>()") do
    parts[#parts + 1] = text
    parts[#parts + 1] = assert(fill[name], name)
    from = to
  end
  parts[#parts + 1] = template:sub(from)
  return parts
end

local function render(parts)
  local text = {}
  for at, part in ipairs(parts) do
    if type(part) == "string" then
      text[at] = part
    else
      local value = part()
      text[at] = type(value) == "number" and string.format("%d", value) or value
    end
  end
  return table.concat(text)
end

local function headers_of(bearer, user, accepts, prefers)
  local headers = { ["Host"] = plan.host }
  if accepts and accepts ~= "" then headers["Accept-Encoding"] = accepts end
  if prefers and prefers ~= "" then headers["Prefer"] = prefers end
  if bearer then headers["Authorization"] = "Bearer " .. bearer end
  if user then headers["X-User"] = user end
  return headers
end

local function read_users(name, into)
  for line in io.lines(plan.files .. "/" .. name) do
    local bearer, user = line:match("^([^\t]*)\t(.*)$")
    into[#into + 1] = headers_of(bearer, user)
  end
end

local function headers_for(request)
  if request.caller == "Voter" then
    return voters[(math.floor(pair() / plan.proposals) + pair()) % plan.voters + 1]
  elseif request.caller == "Reader" then
    return readers[choose(#readers) + 1]
  end
  return request.headers
end

local function build(request)
  sample = choose(plan.samples)
  local headers = headers_for(request)
  if request.conditional then headers["If-Modified-Since"] = dates[sample + 1] end
  if request.body == "" then
    return wrk.format(request.method, render(request.parts), headers)
  end
  headers["Content-Type"] = "application/json"
  return wrk.format(request.method, render(request.parts), headers, render(request.content))
end

local all = 0

function init(args)
  math.randomseed(number + 1)
  turn = number - plan.threads
  read_users("voters.txt", voters)
  read_users("readers.txt", readers)
  for line in io.lines(plan.files .. "/validators.txt") do
    dates[#dates + 1] = line:match("^[^\t]*\t(.*)$")
  end
  for _, request in ipairs(plan.requests) do
    all = all + request.part
    request.parts, request.content = compile(request.path), compile(request.body)
    local bearer = request.caller ~= "Anonymous" and plan.bearer or nil
    request.headers = headers_of(bearer, nil, request.accepts, request.prefers)
  end
end

local function next_request()
  local point = math.random(all)
  for _, request in ipairs(plan.requests) do
    point = point - request.part
    if point <= 0 then return request end
  end
end

function request()
  local request = #plan.requests == 1 and plan.requests[1] or next_request()
  turn = turn + plan.threads
  return build(request)
end
