package dev.idempotent.outbox.method;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * The events of a call.
 */
@TestInstance(Lifecycle.PER_CLASS)
class OutboxMethodsTests {

	@SuppressWarnings("NullAway.Init")
	private ConfigurableApplicationContext context;

	@SuppressWarnings("NullAway.Init")
	private Orders orders;

	@BeforeAll
	void start() {
		this.context = OutboxApplication.start(List.of(), Orders.class);
		this.orders = this.context.getBean(Orders.class);
	}

	@BeforeEach
	void forget() {
		published().clear();
	}

	@AfterAll
	void stop() {
		this.context.close();
	}

	@Test
	void carryTheResultOfACall() {
		this.orders.place("o-1", 5, "tea");
		assertThat(delivered()).singleElement().satisfies((event) -> {
			assertThat(event.type()).isEqualTo("order.created");
			assertThat(event.topic()).isEqualTo(RecordingPublisher.TOPIC);
			assertThat(event.key()).isEqualTo("o-1");
			assertThat(event.headers()).containsEntry("ce_subject", "o-1");
			assertThat(event.payload()).asString().isEqualTo("{\"id\":\"o-1\",\"amount\":5,\"items\":[\"tea\"]}");
		});
	}

	@Test
	void referToParametersNamedItemAndResultWhereTheyAreUnambiguous() {
		this.orders.add("tea", 1, List.of("cup"));
		assertThat(delivered()).extracting(SerializedEvent::type).containsExactly("item.added", "item.seen");
		assertThat(delivered()).extracting((event) -> new String(event.payload(), StandardCharsets.UTF_8))
			.containsExactly("\"tea\"", "\"cup\"");
	}

	@Test
	void areCreatedForEachElementWhoseConditionHolds() {
		this.orders.placeWithItems("o-2", 101, "tea", "gift", "cup");
		assertThat(delivered()).extracting(SerializedEvent::type)
			.containsExactlyInAnyOrder("order.large", "order.item", "order.item");
		assertThat(delivered()).extracting(SerializedEvent::key).containsExactlyInAnyOrder(null, "tea", "cup");
		published().clear();
		this.orders.placeWithItems("o-3", 100, "tea");
		assertThat(delivered()).extracting(SerializedEvent::type).containsExactly("order.item");
		published().clear();
		this.orders.placeWithItems("o-3", 100);
		assertThat(delivered()).isEmpty();
	}

	@Test
	void needATransactionBeforeTheWorkIsDone() {
		List<String> effects = new ArrayList<>();
		assertThatExceptionOfType(OutboxTransactionException.class)
			.isThrownBy(() -> this.orders.placeWithoutTransaction("o-4", effects));
		assertThat(effects).isEmpty();
		inTransaction((orders) -> orders.placeWithoutTransaction("o-4", effects));
		assertThat(effects).containsExactly("o-4");
		assertThat(delivered()).hasSize(1);
	}

	@Test
	void areNotAppendedIfTheCallThrows() {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> this.orders.failWithRollback("o-5"));
		assertThatIllegalStateException().isThrownBy(() -> this.orders.failWithCommit("o-5"));
		assertThat(delivered()).isEmpty();
	}

	@Test
	void commitWithTheMethodsOwnTransaction() {
		assertThatIllegalStateException().isThrownBy(() -> inTransaction((orders) -> {
			orders.place("o-6", 1);
			orders.log("o-6");
			throw new IllegalStateException("outer failed");
		}));
		assertThat(delivered()).extracting(SerializedEvent::type).containsExactly("order.logged");
	}

	@Test
	void areRefusedIfAnExpressionYieldsAnInvalidValue() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.orders.placeNothing())
			.withMessageContaining("payload")
			.withMessageContaining("placeNothing")
			.withMessageContaining("condition");
		assertThatIllegalArgumentException().isThrownBy(() -> this.orders.placeWithOddKey())
			.withMessageContaining("key");
		assertThatIllegalArgumentException().isThrownBy(() -> this.orders.placeWithoutElements())
			.withMessageContaining("forEach");
		assertThat(delivered()).isEmpty();
	}

	@Test
	void followFromAnAnnotationOfTheApplication() {
		this.orders.placeByOwnAnnotation("o-7");
		assertThat(delivered()).extracting(SerializedEvent::type, SerializedEvent::key)
			.containsExactly(tuple("order.placed", "o-7"));
	}

	@Test
	void areNotAppendedAgainByAReplayedCall() {
		try (ConfigurableApplicationContext context = OutboxApplication.start(
				List.of("idempotent.outbox.relay.enabled=false", "idempotent.jdbc.initialize-schema=always"),
				Idempotency.class, Payments.class)) {
			Payments payments = context.getBean(Payments.class);
			for (int i = 0; i < 3; i++) {
				assertThat(payments.payUnderTransaction("p-1")).isEqualTo("paid p-1");
				assertThat(payments.payUnderLease("p-1")).isEqualTo("paid p-1");
			}
			assertThat(context.getBean(JdbcClient.class)
				.sql("select type from outbox_event order by id")
				.query(String.class)
				.list()).containsExactly("paid.transaction", "paid.lease");
		}
	}

	private void inTransaction(Consumer<Orders> work) {
		new TransactionTemplate(this.context.getBean(PlatformTransactionManager.class))
			.executeWithoutResult((status) -> work.accept(this.orders));
	}

	private List<SerializedEvent> published() {
		return this.context.getBean(RecordingPublisher.class).published();
	}

	/**
	 * All that there is, as there is nothing left to deliver, in the order of the
	 * appends.
	 */
	private List<SerializedEvent> delivered() {
		JdbcClient database = this.context.getBean(JdbcClient.class);
		await().untilAsserted(
				() -> assertThat(database.sql("select count(*) from outbox_event").query(Integer.class).single())
					.isZero());
		return published().stream().sorted(Comparator.comparing(SerializedEvent::sequence)).toList();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportMethods
	static class Idempotency {

	}

	static class Payments {

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "payments.pay-under-transaction")
		@TransactionalOutbox(type = "paid.transaction")
		String payUnderTransaction(String id) {
			return "paid " + id;
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.LEASE, name = "payments.pay-under-lease")
		@TransactionalOutbox(type = "paid.lease")
		String payUnderLease(String id) {
			return "paid " + id;
		}

	}

}
