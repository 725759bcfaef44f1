-- Removes consumers of this library that have nothing pending: the one that is named, and
-- those that have not been heard of for a while.
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
