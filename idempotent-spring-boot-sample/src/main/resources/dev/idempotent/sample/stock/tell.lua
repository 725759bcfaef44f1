-- Tells the gate what the ledger has committed, and ends the tickets of the requests that are part of it.
-- KEYS: shelves, tickets, owners. ARGV: mode, reservation id or '', facts (the record StockFacts as JSON).
-- Mode 'tell' does nothing without a gate. 'load' makes a gate as soon as it has facts about shelves. 'reset' does the
-- same after it has removed the known facts. It keeps the tickets, because the facts may be older than their requests.
-- All that can fail comes before the first write or is the first write: ending tickets of a key of another type.
local shelves, tickets, owners = unpack(KEYS)
local mode, id, facts = ARGV[1], ARGV[2], cjson.decode(ARGV[3])

local function count(number)
  assert(type(number) == 'number' and number >= 0 and number == math.floor(number), 'not a count')
  return number
end

local function known(key, field)
  return mode ~= 'reset' and redis.call('HGET', key, field)
end

local limit = count(facts.perUser)
local units = tonumber(known(shelves, 'units'))
if mode == 'tell' and not units then
  return
end
units = units or 0

-- A shelf counts if its version is newer than the known one.
local shelf_fields = {}
for _, shelf in ipairs(facts.shelves) do
  local version, free = 'v' .. shelf.number, 'f' .. shelf.number
  if count(shelf.version) > (tonumber(known(shelves, version)) or 0) then
    units = units + count(shelf.free) - (tonumber(known(shelves, free)) or 0)
    for _, value in ipairs({version, shelf.version, free, shelf.free}) do
      table.insert(shelf_fields, value)
    end
  end
end

-- An owner counts unless the version is older: the same version again renews the time at which it was told.
local owner_fields, ended = {}, {id}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, owner in ipairs(facts.owners) do
  local version = count(owner.version)
  local readable, fact = pcall(cjson.decode, known(owners, owner.owner))
  if not readable or type(fact) ~= 'table' or version >= (tonumber(fact[1]) or 0) then
    table.insert(owner_fields, owner.owner)
    table.insert(owner_fields, cjson.encode({version, now, unpack(owner.reservationIds)}))
    for _, told in ipairs(owner.reservationIds) do
      table.insert(ended, told)
    end
  end
end

if mode == 'reset' then
  redis.call('UNLINK', shelves, owners)
  if redis.call('TYPE', tickets).ok ~= 'zset' then
    redis.call('UNLINK', tickets)
  end
end
redis.call('ZREM', tickets, unpack(ended))
if #shelf_fields > 0 then
  redis.call('HSET', shelves, 'limit', limit, 'units', units, unpack(shelf_fields))
end
if #owner_fields > 0 then
  redis.call('HSET', owners, unpack(owner_fields))
end
for _, key in ipairs(KEYS) do
  redis.call('EXPIRE', key, 86400)
end
