-- Grants the key to one of many claimants, and tells the others what became of it.
-- The owner's own token is granted again while the key is PENDING, so a lost reply can be asked for again.
-- Returns {outcome, remaining lease or retention in ms, response}, as far as the outcome has them.
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
return {'COMPLETED', redis.call('PTTL', key), response}
