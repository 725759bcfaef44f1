-- Adds events to a stream, one after the other, up to the first that is refused.
-- KEYS: stream. ARGV: its approximate length, or '' for no limit; then of each event the number of its names and
-- values, and these.
-- Returns {added, error}, where the error is '' if all were added. Fails if the first one is refused.
redis.replicate_commands()
local added, position = 0, 2
while position <= #ARGV do
	local command = {'XADD', KEYS[1]}
	if ARGV[1] ~= '' then
		command = {'XADD', KEYS[1], 'MAXLEN', '~', ARGV[1]}
	end
	command[#command + 1] = '*'
	local size = tonumber(ARGV[position])
	for i = position + 1, position + size do
		command[#command + 1] = ARGV[i]
	end
	local reply = redis.pcall(unpack(command))
	if type(reply) == 'table' and reply.err then
		if added == 0 then
			return reply
		end
		return {added, reply.err}
	end
	added = added + 1
	position = position + size + 1
end
return {added, ''}
