-- Admits a request for a unit or refuses it. An admitted request has a ticket, which counts as a taken unit for 10 s.
-- KEYS: shelves, tickets, owners. ARGV: reservation id, owner.
-- Returns 'ABSENT' for a gate that is missing or damaged, 'GO', 'LIMIT' or 'SOLD_OUT'.
local shelves, tickets, owners = unpack(KEYS)
local id, owner = unpack(ARGV)

local known = redis.pcall('HMGET', shelves, 'limit', 'units')
local ticket = redis.pcall('ZSCORE', tickets, id)
local told = redis.pcall('HGET', owners, owner)
local limit, units = tonumber(known[1]), tonumber(known[2])
if not limit or not units or type(ticket) == 'table' or type(told) == 'table' then
  return 'ABSENT'
end

-- An overdue ticket may belong to a reservation that the gate has not been told of.
if ticket then
  return 'GO'
end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local readable, fact = pcall(cjson.decode, told)
if readable and type(fact) == 'table' then
  for i = 3, #fact do
    if fact[i] == id then
      return 'GO'
    end
  end
  local age = now - (tonumber(fact[2]) or 0)
  if #fact - 2 >= limit and age >= 0 and age < 60000 then
    return 'LIMIT'
  end
end

-- The upper bound keeps a clock that was set back from making tickets last longer.
if units - redis.call('ZCOUNT', tickets, '(' .. now, now + 10000) < 1 then
  return 'SOLD_OUT'
end
redis.call('ZADD', tickets, now + 10000, id)
redis.call('EXPIRE', tickets, 86400)
return 'GO'
