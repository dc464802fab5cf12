-- Casts votes: each pair of user and proposal once, the threads interleaved.
-- Arguments: the address, the host, a file of voters (bearer, tab, number of the user), the number of the first
-- proposal, how many proposals follow each other, the first pair, the number of threads.
local threads = 0
local voters = {}

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init(args)
  path, host = args[1], args[2]
  for line in io.lines(args[3]) do
    local bearer, user = line:match("^([^\t]*)\t(.*)$")
    voters[#voters + 1] = {
      ["Host"] = host, ["Authorization"] = "Bearer " .. bearer, ["X-User"] = user,
      ["Content-Type"] = "application/json",
    }
  end
  first, proposals = tonumber(args[4]), tonumber(args[5])
  pair, step = tonumber(args[6]) + number - 1, tonumber(args[7])
end

function request()
  local proposal = first + pair % proposals
  local voter = voters[(math.floor(pair / proposals) + pair) % #voters + 1]
  pair = pair + step
  return wrk.format("POST", path, voter, string.format('{"proposal_id":%d,"data":{"weight":1}}', proposal))
end
