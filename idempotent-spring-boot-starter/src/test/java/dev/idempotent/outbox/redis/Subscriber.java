package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * A client that is subscribed to a channel.
 */
final class Subscriber implements AutoCloseable {

	private final RedisConnection connection;

	private final List<String> messages = new CopyOnWriteArrayList<>();

	/**
	 * Returns once Redis has confirmed the subscription.
	 */
	Subscriber(RedisConnectionFactory factory, String channel) {
		this.connection = factory.getConnection();
		this.connection.subscribe(
				(message, pattern) -> this.messages.add(new String(message.getBody(), StandardCharsets.UTF_8)),
				channel.getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * The messages in the order of their arrival.
	 */
	List<String> messages() {
		return this.messages;
	}

	/**
	 * The JSON payloads of the messages.
	 */
	List<String> payloads() {
		return this.messages.stream()
			.map((message) -> JsonMapper.shared().readTree(message).get("data").toString())
			.toList();
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
