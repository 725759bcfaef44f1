-- Frees a PENDING key that the token owns; an absent key is free already. A completed one stays.
-- Returns FREE, REFUSED or FOREIGN.
local key, token = KEYS[1], ARGV[1]

local record = redis.pcall('HMGET', key, 'state', 'token')
if record.err then
  return 'FOREIGN'
end
local state, owner = unpack(record)
if state ~= 'PENDING' and state ~= 'COMPLETED' and redis.call('EXISTS', key) == 1 then
  return 'FOREIGN'
end

if not state then
  return 'FREE'
end
if state ~= 'PENDING' or owner ~= token then
  return 'REFUSED'
end
redis.call('DEL', key)
return 'FREE'
