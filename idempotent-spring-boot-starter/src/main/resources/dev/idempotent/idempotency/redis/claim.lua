-- Grants a free key to the token, and reports the state of a key that is not free. A PENDING key is granted
-- again to the token that owns it, so that a claim can be repeated after a lost reply.
-- KEYS: key. ARGV: value of the key if it is granted (RedisValue describes the format), lease in ms.
-- Returns {'ACQUIRED'}, {'PENDING', remaining lease in ms}, {'COMPLETED', remaining retention in ms, value},
-- {'MISMATCHED', remaining lease in ms} of a PENDING key, {'MISMATCHED'} of a COMPLETED one or, for a value that this
-- library did not write, {'FOREIGN'}.
local key, claim, lease = KEYS[1], ARGV[1], ARGV[2]

-- Not SET with NX: a replay must not need a server that accepts writes.
local value = redis.pcall('GET', key)
if not value then
  redis.call('SET', key, claim, 'PX', lease)
  return {'ACQUIRED'}
end
if type(value) == 'table' or string.sub(value, 1, 4) ~= string.sub(claim, 1, 4) then
  return {'FOREIGN'}
end

-- The positions of the stored state and of that of the claim.
local stored, own = (string.byte(value, 5) or 0) + 6, string.byte(claim, 5) + 6
local pending = string.sub(value, stored, stored) == 'P'
if pending and string.sub(value, 1, stored) == string.sub(claim, 1, own) then
  redis.call('PEXPIRE', key, lease)
  return {'ACQUIRED'}
end
-- The state is followed by the version of the fingerprint and by its digest with its length.
local size = 5 + string.byte(claim, own + 5)
if string.sub(value, stored + 1, stored + 4) == string.sub(claim, own + 1, own + 4)
    and string.sub(value, stored + 5, stored + size) ~= string.sub(claim, own + 5, own + size) then
  return pending and {'MISMATCHED', redis.call('PTTL', key)} or {'MISMATCHED'}
end
if pending then
  return {'PENDING', redis.call('PTTL', key)}
end
return {'COMPLETED', redis.call('PTTL', key), value}
