# Receives webhooks: WEBHOOK_SECRET=… ruby receiver.rb PORT DIRECTORY
require "openssl"
require "securerandom"
require "socket"
require "timeout"

SECRET = ENV.fetch("WEBHOOK_SECRET")
PORT, DIRECTORY = ARGV
MAX_BODY, TOLERANCE_SECONDS = 5_000_000, 300

# Returns the status of the answer.
def check(headers, body)
  timestamp = headers.fetch("x-webhook-timestamp", "")
  is_recent = timestamp.match?(/\A[0-9]{1,12}\z/) && (Time.now.to_i - timestamp.to_i).abs <= TOLERANCE_SECONDS
  return 400 unless is_recent
  expected = "v1=" + OpenSSL::HMAC.hexdigest("SHA256", SECRET, timestamp.b + "." + body)
  return 401 unless OpenSSL.secure_compare(expected, headers.fetch("x-webhook-signature", ""))
  headers.fetch("x-webhook-id", "").match?(/\A[0-9a-f-]{36}\z/) ? 204 : 400
end

# Writes DIRECTORY/<delivery>.json, unless it is there.
def store(delivery, body)
  path = File.join(DIRECTORY, "#{SecureRandom.uuid}.tmp")
  File.open(path, "wbx") { |file| file.write(body) && file.fsync }
  File.link(path, File.join(DIRECTORY, "#{delivery}.json"))
rescue Errno::EEXIST
  # A repeated delivery.
ensure
  File.unlink(path)
end

def read_headers(socket)
  headers = {}
  while headers.size < 100 && (line = socket.gets("\n", 8192)&.chomp) && !line.empty?
    name, value = line.split(":", 2)
    headers[name.downcase] = value.to_s.strip
  end
  headers
end

def receive(socket)
  return 405 unless socket.gets("\n", 8192)&.start_with?("POST ")
  headers = read_headers(socket)
  length = headers.fetch("content-length", "")
  return 413 unless length.match?(/\A[0-9]{1,9}\z/) && length.to_i <= MAX_BODY
  body = socket.read(length.to_i)
  status = check(headers, body)
  store(headers["x-webhook-id"], body) if status == 204
  status
end

server = TCPServer.new("127.0.0.1", Integer(PORT))
loop do
  Thread.start(server.accept) do |socket|
    status = Timeout.timeout(15) { receive(socket) } rescue 500
    length = status == 204 ? "" : "Content-Length: 0\r\n"
    socket.write("HTTP/1.1 #{status} -\r\n#{length}Connection: close\r\n\r\n") rescue nil
    socket.close
  end
end
