package dev.idempotent.sample.crash.site;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.Range.Boundary;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;

/**
 * The stream of the shop's events and the group that consumes it, seen past the wire.
 */
public final class OrderStream implements AutoCloseable {

	private static final String STREAM = "orders";

	private static final String GROUP = "notifications";

	private static final int PAGE = 1_000;

	private final RedisClient client;

	private final RedisCommands<String, String> redis;

	/**
	 * Creates a view. Each byte of a field becomes one character of a text.
	 */
	OrderStream(int port) {
		this.client = RedisClient.create(RedisURI.create(Ports.HOST, port));
		this.redis = this.client.connect(new StringCodec(StandardCharsets.ISO_8859_1)).sync();
	}

	/**
	 * All entries, the first one first.
	 */
	public List<StreamMessage<String, String>> entries() {
		List<StreamMessage<String, String>> all = new ArrayList<>();
		List<StreamMessage<String, String>> page = after("0", PAGE);
		while (!page.isEmpty()) {
			all.addAll(page);
			page = after(page.get(page.size() - 1).getId(), PAGE);
		}
		return all;
	}

	/**
	 * How many entries the group was brought and has not acknowledged.
	 */
	public long pending() {
		return this.redis.xpending(STREAM, GROUP).getCount();
	}

	/**
	 * Whether there are entries that the group was not brought yet.
	 */
	public boolean hasUnread() {
		return !after(lastDelivered(), 1).isEmpty();
	}

	/**
	 * The entries that the group has given up.
	 */
	public List<StreamMessage<String, String>> dead() {
		return this.redis.xrange(STREAM + "." + GROUP + ".dead", Range.unbounded());
	}

	private List<StreamMessage<String, String>> after(String id, int count) {
		return this.redis.xrange(STREAM, Range.from(Boundary.excluding(id), Boundary.unbounded()), Limit.from(count));
	}

	private String lastDelivered() {
		List<?> group = (List<?>) this.redis.xinfoGroups(STREAM).get(0);
		return (String) group.get(group.indexOf("last-delivered-id") + 1);
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
