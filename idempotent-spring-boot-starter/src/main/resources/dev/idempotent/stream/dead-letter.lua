-- Moves an entry to the stream of the dead: adds it there with what is known of its end,
-- and acknowledges it. Does nothing to an entry that another consumer has taken over or
-- that was acknowledged. Adds first: a script that fails does not undo what it has done.
local stream, dead = KEYS[1], KEYS[2]
local group, consumer, id = ARGV[1], ARGV[2], ARGV[3]
redis.replicate_commands()
if #redis.call('XPENDING', stream, group, id, id, 1, consumer) == 0 then
	return 0
end
redis.call('XADD', dead, '*', unpack(ARGV, 4))
redis.call('XACK', stream, group, id)
return 1
