package dev.idempotent.outbox.modulith;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;

import dev.idempotent.outbox.TestedDatabase;
import dev.idempotent.outbox.OutboxTransactionException;
import dev.idempotent.outbox.RecordingPublisher;
import dev.idempotent.outbox.SerializedEvent;
import dev.idempotent.outbox.modulith.ModulithShop.OrderCanceled;
import dev.idempotent.outbox.modulith.ModulithShop.OrderCreated;
import dev.idempotent.outbox.modulith.ModulithShop.OrderRefunded;
import dev.idempotent.outbox.modulith.ModulithShop.OrderViewed;
import dev.idempotent.outbox.modulith.ModulithShop.Orders;
import dev.idempotent.outbox.modulith.ModulithShop.ParcelSent;
import dev.idempotent.testing.RealPostgres;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.SimpleApplicationEventMulticaster;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Events of Spring Modulith in an outbox.
 */
@Tag("databases")
@ParameterizedClass(name = "{0}")
@MethodSource("dev.idempotent.outbox.TestedDatabase#h2OrPostgres")
class ModulithIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Parameter
	@SuppressWarnings("NullAway.Init")
	TestedDatabase database;

	@Test
	void deliversAnAnnotatedEvent() {
		shop().run((shop) -> {
			orders(shop).publish(new OrderCreated("o-1", 3), new OrderViewed("o-1"));
			SerializedEvent event = published(shop, 1).get(0);
			assertThat(event.topic()).isEqualTo("test:orders");
			assertThat(event.key()).isEqualTo("o-1");
			assertThat(event.type()).isEqualTo(OrderCreated.class.getName());
			assertThat(payload(event)).isEqualTo("{\"orderId\":\"o-1\",\"amount\":3}");
			assertThat(event.headers()).containsEntry("content-type", "application/json")
				.containsEntry("ce_source", "/shop");
		});
	}

	@Test
	void evaluatesTargetAndKeyWithTheEventAndBeans() {
		shop().run((shop) -> {
			orders(shop).publish(new ParcelSent("p-1", "fr"));
			SerializedEvent event = published(shop, 1).get(0);
			assertThat(event.topic()).isEqualTo("test:parcels-fr");
			assertThat(event.key()).isEqualTo("parcel-p-1");
		});
	}

	@Test
	void leavesAnEventWithoutKeyUnordered() {
		shop().run((shop) -> {
			orders(shop).publish(new OrderRefunded("o-1"));
			SerializedEvent event = published(shop, 1).get(0);
			assertThat(event.topic()).isEqualTo("test:refunds");
			assertThat(event.key()).isNull();
		});
	}

	@Test
	void refusesTypesInExpressions() {
		shop().run((shop) -> assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> orders(shop).publish(new ModulithShop.Intrusion("o-1")))
			.withMessageContaining("java.lang.Runtime"));
	}

	@Test
	void dropsTheEventsOfATransactionThatRollsBack() {
		shop().run((shop) -> {
			assertThatIllegalStateException()
				.isThrownBy(() -> orders(shop).publish(new OrderCreated("o-1", 1), ModulithIntegrationTests::fail));
			orders(shop).publish(new OrderCreated("o-2", 1));
			assertThat(published(shop, 1)).extracting(SerializedEvent::key).containsExactly("o-2");
		});
	}

	@Test
	void failsWithoutATransaction() {
		shop().run((shop) -> assertThatExceptionOfType(OutboxTransactionException.class)
			.isThrownBy(() -> orders(shop).publishWithoutTransaction(new OrderCreated("o-1", 1)))
			.withMessageStartingWith("There is no transaction for the event to commit with"));
	}

	@Test
	void mapsRoutesAndAddsHeadersAsConfiguredInCode() {
		shop(ModulithShop.InCode.class).run((shop) -> {
			orders(shop).publish(new OrderCanceled("o-1", "late"), new OrderCreated("o-1", 1));
			SerializedEvent event = published(shop, 1).get(0);
			assertThat(event.topic()).isEqualTo("test:cancellations");
			assertThat(event.key()).isEqualTo("o-1");
			assertThat(event.type()).isEqualTo(OrderCanceled.class.getName());
			assertThat(payload(event)).isEqualTo("{\"order\":\"o-1\"}");
			assertThat(event.headers()).containsEntry("reason", "late")
				.containsEntry("retries", "3")
				.containsEntry("tenant", "a");
		});
	}

	@Test
	void keepsTheOrderOfEachKey() {
		shop().run((shop) -> {
			for (int i = 0; i < 20; i++) {
				orders(shop).publish(new OrderCreated("a", 2 * i), new OrderCreated("b", 2 * i),
						new OrderCreated("a", 2 * i + 1), new OrderCreated("b", 2 * i + 1));
			}
			List<SerializedEvent> all = published(shop, 80);
			for (String key : List.of("a", "b")) {
				assertThat(all).filteredOn((event) -> key.equals(event.key()))
					.extracting(ModulithIntegrationTests::payload)
					.containsExactlyElementsOf(IntStream.range(0, 40)
						.mapToObj((i) -> "{\"orderId\":\"%s\",\"amount\":%d}".formatted(key, i))
						.toList());
			}
		});
	}

	@Test
	void appendsInTheTransactionAlsoIfOtherListenersAreCalledInOtherThreads() {
		withDatabase(ModulithShop.withoutRegistry(AsynchronousEvents.class)).run((shop) -> {
			orders(shop).publish(new OrderCreated("o-1", 1));
			assertThat(published(shop, 1)).hasSize(1);
		});
	}

	@Test
	void leavesModuleListenersToTheRegistryOfModulith() {
		shop(ModulithShop.Invoices.class).run((shop) -> {
			orders(shop).publish(new OrderCreated("o-1", 3));
			ModulithShop.InvoiceListener invoices = shop.getBean(ModulithShop.InvoiceListener.class);
			await().until(() -> invoices.received().size() == 1);
			assertThat(published(shop, 1)).hasSize(1);
			JdbcTemplate database = shop.getBean(JdbcTemplate.class);
			await().untilAsserted(() -> assertThat(database.queryForList(
					"select listener_id from event_publication where completion_date is not null", String.class))
				.singleElement()
				.asString()
				.contains("InvoiceListener"));
			database.update("delete from event_publication");
		});
	}

	private ApplicationContextRunner shop(Class<?>... configurations) {
		return withDatabase(ModulithShop.with(configurations));
	}

	private ApplicationContextRunner withDatabase(ApplicationContextRunner application) {
		return application.withPropertyValues("idempotent.outbox.table-prefix=modulith_")
			.withPropertyValues(
					this.database.properties(postgres, "modulith-" + UUID.randomUUID()).toArray(String[]::new));
	}

	private static void fail(Object event) {
		throw new IllegalStateException("Rolls back");
	}

	private static Orders orders(ApplicationContext shop) {
		return shop.getBean(Orders.class);
	}

	private static List<SerializedEvent> published(ApplicationContext shop, int count) {
		List<SerializedEvent> published = shop.getBean(RecordingPublisher.class).published();
		await().untilAsserted(() -> assertThat(published).hasSizeGreaterThanOrEqualTo(count));
		assertThat(published).hasSize(count);
		return published;
	}

	private static String payload(SerializedEvent event) {
		return new String(event.payload(), StandardCharsets.UTF_8);
	}

	@Configuration(proxyBeanMethods = false)
	static class AsynchronousEvents {

		@Bean
		SimpleApplicationEventMulticaster applicationEventMulticaster() {
			SimpleApplicationEventMulticaster events = new SimpleApplicationEventMulticaster();
			events.setTaskExecutor(new SimpleAsyncTaskExecutor());
			return events;
		}

	}

}
