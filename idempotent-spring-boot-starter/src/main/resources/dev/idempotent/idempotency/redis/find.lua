-- Reports the state of a key and does not change it.
-- KEYS: key.
-- Returns {'ABSENT'}, {'PENDING', remaining lease in ms, token}, {'COMPLETED', remaining retention in ms, token,
-- response} or, for a value that this library did not write, {'FOREIGN'}.
local key = KEYS[1]

local record = redis.pcall('HMGET', key, 'state', 'token', 'response')
if record.err then
  return {'FOREIGN'}
end
local state, owner, response = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return {'FOREIGN'}
end

if not state then
  return {'ABSENT'}
end
if not owner or (state == 'COMPLETED' and not response) then
  return {'FOREIGN'}
end
if state == 'PENDING' then
  return {'PENDING', redis.call('PTTL', key), owner}
end
return {'COMPLETED', redis.call('PTTL', key), owner, response}
