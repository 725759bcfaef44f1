-- Moves a pending entry to the dead-letter stream: adds it there with the reason, then acknowledges it.
-- Changes nothing if another consumer has claimed the entry or it was acknowledged. Adds first, because a
-- script that fails does not undo its writes.
-- KEYS: stream, dead-letter stream. ARGV: group, consumer, id, then alternating names and values of the fields
-- (7000 at most: Lua limits what unpack returns).
-- Returns 1 if the entry was moved, else 0.
local stream, dead = KEYS[1], KEYS[2]
local group, consumer, id = ARGV[1], ARGV[2], ARGV[3]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XADD', dead, '*', unpack(ARGV, 4))
redis.call('XACK', stream, group, id)
return 1
