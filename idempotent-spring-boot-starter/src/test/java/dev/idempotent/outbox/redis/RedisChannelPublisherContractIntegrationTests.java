package dev.idempotent.outbox.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.test.OutboxPublisherContract;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The contract of publishers for {@link RedisChannelPublisher}, whose broker keeps
 * nothing: each destination has a subscriber.
 */
class RedisChannelPublisherContractIntegrationTests extends OutboxPublisherContract {

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final LettuceConnectionFactory application = redis.connect();

	private final RedisChannelPublisher publisher = to(this.application);

	private final Map<String, Subscriber> subscribers = new ConcurrentHashMap<>();

	@AfterEach
	void close() {
		this.subscribers.values().forEach(Subscriber::close);
		this.publisher.close();
	}

	@Override
	protected OutboxPublisher publisher() {
		return this.publisher;
	}

	@Override
	protected OutboxPublisher unreachablePublisher() {
		LettuceConnectionFactory nowhere = new LettuceConnectionFactory("127.0.0.1", 1);
		nowhere.afterPropertiesSet();
		return to(nowhere);
	}

	@Override
	protected String createDestination(String name) {
		this.subscribers.put(name, new Subscriber(this.application, name));
		return name;
	}

	@Override
	protected List<Message> received(String destination) {
		Subscriber subscriber = Objects.requireNonNull(this.subscribers.get(destination));
		return subscriber.messages().stream().map((message) -> {
			JsonNode event = JsonMapper.shared().readTree(message);
			return new Message(event.get("id").stringValue(), event.get("data").toString());
		}).toList();
	}

	private static RedisChannelPublisher to(LettuceConnectionFactory factory) {
		return new RedisChannelPublisher(DedicatedRedisConnections.to(factory, Duration.ofSeconds(30)), () -> {
		});
	}

}
