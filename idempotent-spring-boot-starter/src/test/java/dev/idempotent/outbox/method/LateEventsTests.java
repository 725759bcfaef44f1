package dev.idempotent.outbox.method;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxApplication;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TransactionalOutbox;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Events of beans that are created after the start.
 */
class LateEventsTests {

	/**
	 * Without the refusal, the transaction committed without its event.
	 */
	@Test
	void areNotLostWithABeanThatCannotBeAdvised() {
		OutboxApplication.with(Lazily.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(Shop.class))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("@TransactionalOutbox", "FinalShop.place", "belongs to a final class");
		});
	}

	/**
	 * Without the refusal, its events were appended for no handler.
	 */
	@Test
	void areNotMissedByAHandlerThatTheStartDidNotFind() {
		OutboxApplication.with(LazyMailer.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(Mailer.class))
				.havingRootCause()
				.isInstanceOf(IdempotentConfigurationException.class)
				.withMessageContainingAll("@OutboxHandler", "OrderMailer.send", "'mailer'", "would receive nothing");
		});
		OutboxApplication.with(PrototypeMailer.class)
			.run((context) -> assertThat(context).getFailure().hasMessageContaining("OrderMailer.send"));
	}

	@Test
	void reachAHandlerThatTheStartHasFound() {
		OutboxApplication.with(KnownMailers.class)
			.run((context) -> assertThat(context.getBean("lazy")).isInstanceOf(OrderMailer.class));
	}

	interface Mailer {

	}

	static class OrderMailer implements Mailer {

		@OutboxHandler(type = "order.created", name = "mail")
		public void send(String order) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyMailer {

		@Bean
		@Lazy
		Mailer mailer() {
			return new OrderMailer();
		}

	}

	/**
	 * Whose bean is created while the application starts.
	 */
	@Configuration(proxyBeanMethods = false)
	static class PrototypeMailer {

		@Bean
		@Scope("prototype")
		Mailer mailer() {
			return new OrderMailer();
		}

		@Bean
		Object user(Mailer mailer) {
			return mailer.toString();
		}

	}

	static class InvoiceMailer implements Mailer {

		@OutboxHandler(type = "invoice.created", name = "mail-invoice")
		public void send(String invoice) {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class KnownMailers {

		@Bean
		Mailer eager() {
			return new InvoiceMailer();
		}

		@Bean
		@Lazy
		OrderMailer lazy() {
			return new OrderMailer();
		}

	}

	interface Shop {

		String place(String id);

	}

	static final class FinalShop implements Shop {

		@Override
		@TransactionalOutbox(type = "order.created", key = "#id")
		public String place(String id) {
			return id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Lazily {

		@Bean
		@Lazy
		Shop shop() {
			return new FinalShop();
		}

	}

}
