-- Grants a free key to the token, and reports the state of a key that is not free. A PENDING key is granted
-- again to the token that owns it, so that a claim can be repeated after a lost reply.
-- KEYS: key. ARGV: token, fingerprint version, fingerprint, lease in ms.
-- Returns {'ACQUIRED'}, {'PENDING', remaining lease in ms}, {'COMPLETED', remaining retention in ms, response},
-- {'MISMATCHED'} or, for a value that this library did not write, {'FOREIGN'}.
local key = KEYS[1]
local token, version, fingerprint, lease = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local record = redis.pcall('HMGET', key, 'state', 'token', 'version', 'fingerprint', 'response')
if record.err then
  return {'FOREIGN'}
end
local state, owner, storedVersion, storedFingerprint, response = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return {'FOREIGN'}
end

if not state then
  redis.call('HSET', key, 'state', 'PENDING', 'token', token, 'version', version, 'fingerprint', fingerprint)
  redis.call('PEXPIRE', key, lease)
  return {'ACQUIRED'}
end
if state == 'PENDING' and owner == token then
  redis.call('PEXPIRE', key, lease)
  return {'ACQUIRED'}
end
if storedVersion == version and storedFingerprint ~= fingerprint then
  return {'MISMATCHED'}
end
if state == 'PENDING' then
  return {'PENDING', redis.call('PTTL', key)}
end
if not response then
  return {'FOREIGN'}
end
return {'COMPLETED', redis.call('PTTL', key), response}
