package dev.idempotent.outbox.redis;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import dev.idempotent.outbox.OutboxPublisher;
import dev.idempotent.redis.DedicatedRedisConnections;
import dev.idempotent.test.OutboxPublisherContract;
import dev.idempotent.testing.RealRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * The contract of publishers for {@link RedisStreamPublisher}.
 */
class RedisStreamPublisherContractIntegrationTests extends OutboxPublisherContract {

	private static final Duration TIMEOUT = Duration.ofSeconds(30);

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	private final LettuceConnectionFactory application = redis.connect();

	private final Streams streams = new Streams(this.application);

	private final RedisStreamPublisher publisher = to(this.application);

	@AfterEach
	void close() {
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
	protected List<Message> received(String destination) {
		return this.streams.entries(destination)
			.stream()
			.map((entry) -> new Message(text(Streams.field(entry, "ce_id")), text(Streams.field(entry, "payload"))))
			.toList();
	}

	private static RedisStreamPublisher to(LettuceConnectionFactory factory) {
		return new RedisStreamPublisher(DedicatedRedisConnections.to(factory, TIMEOUT), null, 0, TIMEOUT);
	}

	private static String text(byte[] bytes) {
		return new String(bytes, StandardCharsets.UTF_8);
	}

}
