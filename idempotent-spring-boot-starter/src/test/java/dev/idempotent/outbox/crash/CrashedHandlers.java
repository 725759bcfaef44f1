package dev.idempotent.outbox.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.idempotent.idempotency.IdempotencyContext;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.testing.RestartedApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.Assert;

/**
 * Handlers that insert a row for each event, or call a service that knows keys. They fail
 * at random after their work.
 */
class CrashedHandlers {

	static final String CALLS = "calls";

	private static final String BOOKED = "crash.booked";

	/**
	 * The service: an entry in a stream for each key.
	 */
	private static final RedisScript<Long> SERVICE = RedisScript.of("""
			redis.call('incr', KEYS[3])
			if redis.call('set', KEYS[1], '', 'nx') then
				redis.call('xadd', KEYS[2], '*', unpack(ARGV))
			end
			return 1""", Long.class);

	private final Storm storm;

	private final JdbcClient database;

	private final Outbox outbox;

	private final StringRedisTemplate service;

	private final TransactionTemplate joined;

	CrashedHandlers(Storm storm, JdbcClient database, Outbox outbox, StringRedisTemplate service,
			PlatformTransactionManager transactions) {
		this.storm = storm;
		this.database = database;
		this.outbox = outbox;
		this.service = service;
		this.joined = new TransactionTemplate(transactions);
	}

	@OutboxHandler(type = Writers.TYPE, name = "book")
	void book(String payload, Map<String, String> headers) {
		OutboxEvent next = OutboxEvent.of(BOOKED, insert("crash_booking", payload, headers))
			.toTopic(HandlerCrashRunIntegrationTests.TOPIC)
			.withKey(header(headers, "ce_subject"))
			.withHeader(Writers.NUMBER, header(headers, Writers.NUMBER));
		this.outbox.append(header(headers, Writers.NUMBER).equals("0") ? next.unordered() : next);
		disturb("in-handler");
	}

	@OutboxHandler(type = BOOKED, name = "confirm")
	void confirm(String payload, Map<String, String> headers) {
		insert("crash_confirmation", payload, headers);
		disturb("in-handler");
	}

	@OutboxHandler(type = Writers.TYPE, name = "count", batch = 20)
	void count(List<String> payloads) {
		for (String payload : payloads) {
			int rows = this.database
				.sql("insert into crash_count (event_id, event_key, number) select * from crash_event where id = ?")
				.param(payload.replace("\"", ""))
				.update();
			Assert.state(rows == 1, "The event was not committed with what its transaction has recorded");
		}
		disturb("in-handler");
	}

	@OutboxHandler(type = Writers.TYPE, name = "call", transactional = false)
	void call(String payload, Map<String, String> headers) {
		String key = Objects.requireNonNull(IdempotencyContext.current()).key().digest();
		List<String> entry = new ArrayList<>(List.of("payload", payload));
		headers.forEach((name, value) -> entry.addAll(List.of(name, value)));
		this.service.execute(SERVICE, List.of("key:" + key, RedisBroker.STREAM, CALLS), entry.toArray());
		disturb("after-call");
	}

	private String insert(String table, String payload, Map<String, String> headers) {
		String id = payload.replace("\"", "");
		this.database.sql("insert into " + table + " (event_id, event_key, number) values (?, ?, ?)")
			.params(id, header(headers, "ce_subject"), Integer.parseInt(header(headers, Writers.NUMBER)))
			.update();
		return id;
	}

	private static String header(Map<String, String> headers, String name) {
		return Objects.requireNonNull(headers.get(name));
	}

	private void disturb(String point) {
		if (this.storm.strikes(5)) {
			RestartedApplication.report("fault late handler");
			this.storm.delay(2_000, 6_000);
		}
		if (TransactionSynchronizationManager.isActualTransactionActive() && this.storm.strikes(10)) {
			RestartedApplication.report("fault rollback-only");
			this.joined.executeWithoutResult((status) -> status.setRollbackOnly());
		}
		else if (this.storm.strikes(20)) {
			RestartedApplication.report("fault exception");
			throw new IllegalStateException("Crash run");
		}
		if (this.storm.strikes(1) && this.storm.random(3) == 0) {
			RestartedApplication.halt(point);
		}
	}

	/**
	 * An instance that appends events and handles them.
	 */
	@Configuration(proxyBeanMethods = false)
	@Import(OrderApplication.class)
	static class HandlerApplication {

		@Bean
		CrashedHandlers handlers(Storm storm, JdbcClient database, Outbox outbox, StringRedisTemplate service,
				PlatformTransactionManager transactions) {
			return new CrashedHandlers(storm, database, outbox, service, transactions);
		}

	}

}
