package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.redis.LuaScript;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import org.jspecify.annotations.Nullable;

/**
 * Commands for a pipeline. Apart from the {@link EventCommand}s, which are also used
 * where there is no Lettuce.
 */
final class LettuceCommands {

	private static final ByteArrayCodec CODEC = ByteArrayCodec.INSTANCE;

	private static final byte[] ADD = LuaScript.of(LettuceCommands.class, "add.lua")
		.text()
		.getBytes(StandardCharsets.UTF_8);

	private LettuceCommands() {
	}

	static AsyncCommand<byte[], byte[], String> xadd(String stream, @Nullable Long maxLength, List<byte[]> fields) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).addKey(EventCommand.bytes(stream));
		if (maxLength != null) {
			args.add("MAXLEN").add("~").add(maxLength.longValue());
		}
		args.add("*");
		fields.forEach(args::add);
		return new AsyncCommand<>(new Command<>(CommandType.XADD, new StatusOutput<>(CODEC), args));
	}

	/**
	 * Adds the fields of events to their stream up to the first that is refused.
	 */
	static AsyncCommand<byte[], byte[], List<Object>> addRun(String stream, @Nullable Long maxLength,
			List<List<byte[]>> entries) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).add(ADD)
			.add(1)
			.addKey(EventCommand.bytes(stream))
			.add((maxLength != null) ? maxLength.toString() : "");
		for (List<byte[]> fields : entries) {
			args.add(fields.size());
			fields.forEach(args::add);
		}
		return new AsyncCommand<>(new Command<>(CommandType.EVAL, new NestedMultiOutput<>(CODEC), args));
	}

	static AsyncCommand<byte[], byte[], Long> publish(SerializedEvent event) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).addKey(EventCommand.bytes(event.destination()))
			.addValue(CloudEventJson.write(event));
		return new AsyncCommand<>(new Command<>(CommandType.PUBLISH, new IntegerOutput<>(CODEC), args));
	}

	/**
	 * Asks for the properties of the server. Unlike {@code ROLE} and {@code INFO}, every
	 * user may.
	 */
	static AsyncCommand<byte[], byte[], List<Object>> hello() {
		return new AsyncCommand<>(
				new Command<>(CommandType.HELLO, new NestedMultiOutput<>(CODEC), new CommandArgs<>(CODEC)));
	}

	static AsyncCommand<byte[], byte[], Long> wait(int replicas, Duration timeout) {
		CommandArgs<byte[], byte[]> args = new CommandArgs<>(CODEC).add(replicas).add(timeout.toMillis());
		return new AsyncCommand<>(new Command<>(CommandType.WAIT, new IntegerOutput<>(CODEC), args));
	}

}
