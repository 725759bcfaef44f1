package dev.idempotent.outbox.modulith;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import dev.idempotent.outbox.OutboxApplication;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.EventExternalizationConfiguration;
import org.springframework.modulith.events.Externalized;
import org.springframework.modulith.events.RoutingTarget;
import org.springframework.modulith.events.config.EventExternalizationAutoConfiguration;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.util.ClassUtils;

/**
 * An application that externalizes events with Spring Modulith.
 */
final class ModulithShop {

	private ModulithShop() {
	}

	/**
	 * An application with all auto-configurations of Spring Modulith, some of which are
	 * not public, and its registry of publications.
	 */
	static ApplicationContextRunner with(Class<?>... configurations) {
		List<Class<?>> modulith = new ArrayList<>();
		ImportCandidates.load(AutoConfiguration.class, null).forEach((name) -> {
			if (name.startsWith("org.springframework.modulith.")) {
				modulith.add(ClassUtils.resolveClassName(name, null));
			}
		});
		return shop(configurations).withConfiguration(AutoConfigurations.of(modulith.toArray(Class<?>[]::new)));
	}

	/**
	 * An application without the registry.
	 */
	static ApplicationContextRunner withoutRegistry(Class<?>... configurations) {
		return shop(configurations)
			.withConfiguration(AutoConfigurations.of(EventExternalizationAutoConfiguration.class));
	}

	private static ApplicationContextRunner shop(Class<?>... configurations) {
		return OutboxApplication.with(Shop.class)
			.withUserConfiguration(configurations)
			.withConfiguration(AutoConfigurations.of(ClassUtils
				.resolveClassName("dev.idempotent.autoconfigure.outbox.OutboxModulithAutoConfiguration", null)))
			.withPropertyValues("spring.modulith.events.externalization.mode=outbox",
					"idempotent.outbox.modulith.publisher=test");
	}

	@Externalized("test:orders::#{#this.orderId()}")
	record OrderCreated(String orderId, int amount) {

	}

	@Externalized("parcels-#{#this.country}::#{@keys.of(#this)}")
	record ParcelSent(String id, String country) {

	}

	@Externalized("#{'refunds'}")
	record OrderRefunded(String orderId) {

	}

	@Externalized("test:orders::#{T(java.lang.Runtime).getRuntime()}")
	record Intrusion(String orderId) {

	}

	record OrderViewed(String orderId) {

	}

	record OrderCanceled(String orderId, String reason) {

	}

	record Cancellation(String order) {

	}

	/**
	 * Found by an expression.
	 */
	static class Keys {

		public String of(ParcelSent parcel) {
			return "parcel-" + parcel.id();
		}

	}

	static class Orders {

		private final ApplicationEventPublisher events;

		Orders(ApplicationEventPublisher events) {
			this.events = events;
		}

		@Transactional
		public void publish(Object... all) {
			List.of(all).forEach(this.events::publishEvent);
		}

		@Transactional
		public void publish(Object event, Consumer<Object> then) {
			this.events.publishEvent(event);
			then.accept(event);
		}

		public void publishWithoutTransaction(Object event) {
			this.events.publishEvent(event);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	static class Shop {

		@Bean
		Orders orders(ApplicationEventPublisher events) {
			return new Orders(events);
		}

		@Bean
		Keys keys() {
			return new Keys();
		}

	}

	/**
	 * A module with a listener of its own.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Invoices {

		@Bean
		InvoiceListener invoiceListener() {
			return new InvoiceListener();
		}

	}

	static class InvoiceListener {

		private final List<OrderCreated> received = new CopyOnWriteArrayList<>();

		@ApplicationModuleListener
		public void on(OrderCreated event) {
			this.received.add(event);
		}

		public List<OrderCreated> received() {
			return this.received;
		}

	}

	/**
	 * Selects, maps and routes in code.
	 */
	@Configuration(proxyBeanMethods = false)
	static class InCode {

		@Bean
		EventExternalizationConfiguration externalization() {
			return EventExternalizationConfiguration.externalizing()
				.selectByType(OrderCanceled.class)
				.mapping(OrderCanceled.class, (event) -> new Cancellation(event.orderId()))
				.headers(OrderCanceled.class, (event) -> Map.of("Reason", event.reason(), "retries", 3))
				.headers(Cancellation.class, (mapped) -> Map.of("tenant", new byte[] { 'a' }))
				.route(OrderCanceled.class, (event) -> RoutingTarget.forTarget("cancellations").andKey(event.orderId()))
				.build();
		}

	}

}
