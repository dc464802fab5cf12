-- Asks for tokens. Arguments: the host, the body.
function init(args)
  wrk.method = "POST"
  wrk.path = "/oauth/token"
  wrk.headers["Host"] = args[1]
  wrk.headers["Content-Type"] = "application/json"
  wrk.body = args[2]
end
