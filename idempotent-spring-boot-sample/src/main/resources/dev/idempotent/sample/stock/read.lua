-- Reads what the gate knows of a sale.
-- KEYS: shelves, tickets, owners.
-- Returns the record GateState as JSON, without fields if a key is of the wrong type; or nothing without a gate.
local shelves, tickets, owners = unpack(KEYS)
local known = redis.pcall('HGETALL', shelves)
local count = redis.pcall('ZCARD', tickets)
local told = redis.pcall('HLEN', owners)

if known.err or type(count) == 'table' or type(told) == 'table' then
  return cjson.encode({tickets = 0, fields = {}})
end
if #known == 0 then
  return nil
end
local fields = {}
for i = 1, #known, 2 do
  fields[known[i]] = known[i + 1]
end
return cjson.encode({tickets = count, fields = fields})
