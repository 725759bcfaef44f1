-- Completes a key that the token owns, or that is free, with a response. Repeatable: a key that the token has
-- completed stays unchanged.
-- KEYS: key. ARGV: token, fingerprint version, fingerprint, response, retention in ms.
-- Returns 'KEPT', 'REFUSED' if another token owns the key, or 'FOREIGN' for a value that this library did not write.
local key = KEYS[1]
local token, version, fingerprint, response, retention = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local record = redis.pcall('HMGET', key, 'state', 'token')
if record.err then
  return 'FOREIGN'
end
local state, owner = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return 'FOREIGN'
end

if state and owner ~= token then
  return 'REFUSED'
end
if state ~= 'COMPLETED' then
  redis.call('HSET', key, 'state', 'COMPLETED', 'token', token, 'version', version, 'fingerprint', fingerprint,
    'response', response)
  redis.call('PEXPIRE', key, retention)
end
return 'KEPT'
