package dev.idempotent.advice;

import java.lang.reflect.Type;
import java.util.List;
import java.util.Objects;

import dev.idempotent.outbox.OutboxHandler;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ResolvableType;

import static org.assertj.core.api.Assertions.assertThat;

class ListenerMethodTests {

	@Test
	void takesThePayloadsThatTheClassOfTheBeanDeclares() {
		assertThat(payloadOf(Inherits.class)).isEqualTo(Order.class);
		assertThat(payloadOf(Implements.class).getTypeName())
			.isEqualTo(ResolvableType.forClassWithGenerics(List.class, Order.class).getType().getTypeName());
	}

	private static Type payloadOf(Class<?> type) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("bean", new RootBeanDefinition(type));
		List<ListenerMethod> found = ListenerMethod.findAll(beans, OutboxHandler.class);
		assertThat(found).hasSize(1);
		return Objects.requireNonNull(found.get(0).payloadType());
	}

	record Order(String id) {

	}

	abstract static class Base<T> {

		@OutboxHandler(type = "one")
		void handle(T payload) {
		}

	}

	static class Inherits extends Base<Order> {

	}

	interface Contract<T> {

		@OutboxHandler(type = "one")
		default void handle(List<T> payload) {
		}

	}

	static class Implements implements Contract<Order> {

	}

}
