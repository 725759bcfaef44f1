package dev.idempotent.benchmark.outbox;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.StreamMessage;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulRedisConnection;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that waits in {@code XREAD BLOCK} and notes when it sees each order first.
 * It knows an order by the number in its JSON, in whichever field a contender puts that.
 */
final class StreamReader implements AutoCloseable {

	private static final Pattern NUMBER = Pattern.compile("\"number\":(\\d+)");

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final int BLOCK_MILLIS = 100;

	private static final int AT_ONCE = 1_000;

	private final Map<Long, Long> seen = new ConcurrentHashMap<>();

	private final StatefulRedisConnection<String, String> connection;

	private final String stream;

	private final Thread thread;

	private volatile boolean closed;

	StreamReader(StatefulRedisConnection<String, String> connection, String stream) {
		this.connection = connection;
		this.stream = stream;
		this.thread = new Thread(this::run, "stream-reader");
		this.thread.start();
	}

	@SuppressWarnings("unchecked")
	private void run() {
		String last = "0-0";
		while (!this.closed) {
			List<StreamMessage<String, String>> messages = this.connection.sync()
				.xread(XReadArgs.Builder.block(BLOCK_MILLIS).count(AT_ONCE), StreamOffset.from(this.stream, last));
			long now = System.nanoTime();
			for (StreamMessage<String, String> message : messages) {
				note(message, now);
				last = message.getId();
			}
		}
	}

	private void note(StreamMessage<String, String> message, long now) {
		Long number = numberIn(message);
		if (number != null) {
			this.seen.putIfAbsent(number, now);
		}
	}

	/**
	 * The number of the order in a message.
	 * @return {@code null} if there is none
	 */
	static @Nullable Long numberIn(StreamMessage<String, String> message) {
		for (String value : message.getBody().values()) {
			Matcher matcher = NUMBER.matcher(value);
			if (matcher.find()) {
				return Long.valueOf(matcher.group(1));
			}
		}
		return null;
	}

	/**
	 * Returns as soon as all these orders have been seen.
	 */
	void awaitOrders(Set<Long> numbers) {
		Awaitility.await().atMost(PATIENCE).until(() -> this.seen.keySet().containsAll(numbers));
	}

	/**
	 * When an order was seen first.
	 * @return of {@code System.nanoTime()}
	 */
	long seen(Long number) {
		return Objects.requireNonNull(this.seen.get(number));
	}

	@Override
	public void close() {
		this.closed = true;
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.connection.close();
	}

}
