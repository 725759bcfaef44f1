-- Resets the idle time of a pending entry, so that no other consumer claims it, without counting a delivery.
-- Changes nothing if another consumer has claimed the entry or it was acknowledged.
-- KEYS: stream. ARGV: group, consumer, id.
-- Returns 1 if the entry was renewed, else 0.
local stream = KEYS[1]
local group, consumer, id = ARGV[1], ARGV[2], ARGV[3]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XCLAIM', stream, group, consumer, 0, id, 'JUSTID')
return 1
