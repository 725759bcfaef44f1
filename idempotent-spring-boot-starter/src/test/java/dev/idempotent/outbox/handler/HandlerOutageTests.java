package dev.idempotent.outbox.handler;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import dev.idempotent.outbox.OutboxEvent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Handlers while what they depend on is away.
 */
@Timeout(120)
class HandlerOutageTests {

	private static final String MAIL = "handlers:mail";

	/**
	 * How many failures in a row count as an outage.
	 */
	private static final int FAILURES = 10;

	private final HandlerShop shop = HandlerShop.open(
			List.of("spring.datasource.generate-unique-name=false",
					"spring.datasource.url=jdbc:h2:mem:handler-outage;DB_CLOSE_DELAY=-1"),
			HandlerShop.OFTEN, List.of(), "idempotent.outbox.handlers.attempts=3");

	@AfterEach
	void close() {
		this.shop.forgetAll();
		this.shop.close();
	}

	private void append(int keys, int events) {
		List<OutboxEvent> all = new ArrayList<>();
		for (int event = 0; event < events; event++) {
			for (int key = 0; key < keys; key++) {
				all.add(HandlerShop.event("order.shipped", key + "-" + event).withKey("key-" + key));
			}
		}
		this.shop.append(all.toArray(OutboxEvent[]::new));
	}

	private int attempts() {
		return this.shop.waiting().stream().mapToInt((row) -> (Integer) row.get("attempts")).sum();
	}

	@Test
	void useUpNoAttemptsDuringAnOutageAndKeepTheOrder() {
		AtomicBoolean away = new AtomicBoolean(true);
		AtomicInteger calls = new AtomicInteger();
		List<String> handled = new CopyOnWriteArrayList<>();
		this.shop.handlers().whenMailing((id) -> {
			calls.incrementAndGet();
			if (away.get()) {
				throw new IllegalStateException("The provider is away");
			}
			handled.add(id);
		});
		append(20, 3);
		await().until(() -> calls.get() >= FAILURES);
		await().untilAsserted(() -> assertThat(this.shop.relay().unavailablePublishers()).containsExactly(MAIL));
		int counted = attempts();
		int before = calls.get();
		await().until(() -> calls.get() > before + 2);
		assertThat(attempts()).isLessThanOrEqualTo(counted + 1).isLessThanOrEqualTo(FAILURES);
		assertThat(this.shop.dead()).isEmpty();
		away.set(false);
		await().untilAsserted(() -> assertThat(this.shop.rows()).isZero());
		assertThat(this.shop.dead()).isEmpty();
		Map<String, List<String>> byKey = handled.stream()
			.collect(Collectors.groupingBy((id) -> id.substring(0, id.indexOf('-'))));
		assertThat(byKey).hasSize(20)
			.allSatisfy((key, ids) -> assertThat(ids).containsExactly(key + "-0", key + "-1", key + "-2"));
		assertThat(this.shop.relay().unavailablePublishers()).isEmpty();
	}

	@Test
	void giveUpTheEventsOfAFewKeysThatFail() {
		this.shop.handlers().whenMailing((id) -> {
			throw new IllegalStateException("This event is at fault");
		});
		append(2, 10);
		await().untilAsserted(() -> assertThat(this.shop.dead()).hasSize(20));
		assertThat(this.shop.relay().unavailablePublishers()).isEmpty();
	}

}
