-- Reports the state of a key and does not change it.
-- KEYS: key.
-- Returns {'ABSENT'}, {'FOUND', remaining lease or retention in ms, value} (RedisValue describes the format) or, for
-- a value that this library did not write, {'FOREIGN'}, unless the value shows this.
local key = KEYS[1]

local value = redis.pcall('GET', key)
if not value then
  return {'ABSENT'}
end
if type(value) == 'table' then
  return {'FOREIGN'}
end
return {'FOUND', redis.call('PTTL', key), value}
