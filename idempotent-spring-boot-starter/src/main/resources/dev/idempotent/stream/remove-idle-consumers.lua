-- Removes consumers of this library that have no pending entries: those that have been idle for a time, and
-- the one that is leaving.
-- KEYS: stream. ARGV: group, name of the leaving consumer or '', idle time in ms.
-- Returns the number of removed consumers.
local stream = KEYS[1]
local group, leaving, idle = ARGV[1], ARGV[2], tonumber(ARGV[3])
redis.replicate_commands()
local removed = 0
for _, facts in ipairs(redis.call('XINFO', 'CONSUMERS', stream, group)) do
	local consumer = {}
	for i = 1, #facts, 2 do
		consumer[facts[i]] = facts[i + 1]
	end
	local ours = string.sub(consumer['name'], 1, 11) == 'idempotent-'
	if ours and consumer['pending'] == 0 and (consumer['name'] == leaving or consumer['idle'] > idle) then
		redis.call('XGROUP', 'DELCONSUMER', stream, group, consumer['name'])
		removed = removed + 1
	end
end
return removed
