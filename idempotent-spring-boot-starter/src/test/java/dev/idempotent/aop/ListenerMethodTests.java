package dev.idempotent.aop;

import java.lang.reflect.Type;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import dev.idempotent.aop.ListenerMethod.UnreadablePayloadException;
import dev.idempotent.outbox.OutboxHandler;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ResolvableType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;

class ListenerMethodTests {

	@Test
	void takesThePayloadsThatTheClassOfTheBeanDeclares() {
		assertThat(payloadOf(Inherits.class)).isEqualTo(Order.class);
		assertThat(payloadOf(Implements.class).getTypeName())
			.isEqualTo(ResolvableType.forClassWithGenerics(List.class, Order.class).getType().getTypeName());
	}

	@Test
	void readsTextInTheCharsetOfItsMediaType() throws Exception {
		assertThat(text("grün", StandardCharsets.UTF_8, Map.of())).isEqualTo("grün");
		assertThat(text("grün", StandardCharsets.UTF_8, Map.of("content-type", "application/json"))).isEqualTo("grün");
		assertThat(text("grün", StandardCharsets.ISO_8859_1, Map.of("content-type", "text/plain;charset=ISO-8859-1")))
			.isEqualTo("grün");
		assertThat(text("grün", StandardCharsets.UTF_16BE, Map.of("content-type", "text/plain; charset=\"utf-16be\"")))
			.isEqualTo("grün");
	}

	/**
	 * Other programs may send what is no media type.
	 */
	@Test
	void readsTextOfAnUnknownTypeAsUtf8() throws Exception {
		assertThat(text("grün", StandardCharsets.UTF_8, Map.of("content-type", "text"))).isEqualTo("grün");
	}

	@Test
	void readsNoTextInACharsetThatItDoesNotKnow() {
		assertThatExceptionOfType(UnreadablePayloadException.class)
			.isThrownBy(() -> text("grün", StandardCharsets.UTF_8, Map.of("content-type", "text/plain;charset=none")))
			.withMessage("The payload cannot be converted to java.lang.String");
	}

	/**
	 * The declared type does not tell.
	 */
	@Test
	void refusesAValueWhoseWorkMayNotBeDone() {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("bean", new RootBeanDefinition(ReturnsAnything.class));
		ListenerMethod method = find(beans);
		method.bind(beans);
		assertThatIllegalStateException().isThrownBy(() -> method.invoke(new CompletableFuture<>()))
			.withMessageContaining("CompletableFuture, whose work may not be done yet");
		assertThatNoException().isThrownBy(() -> method.invoke("done"));
	}

	private static @Nullable Object text(String text, Charset charset, Map<String, String> headers) throws Exception {
		return find(TakesText.class).arguments(headers, text.getBytes(charset), (payload, type) -> null)[0];
	}

	private static Type payloadOf(Class<?> type) {
		return Objects.requireNonNull(find(type).payloadType());
	}

	private static ListenerMethod find(Class<?> type) {
		DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
		beans.registerBeanDefinition("bean", new RootBeanDefinition(type));
		return find(beans);
	}

	private static ListenerMethod find(DefaultListableBeanFactory beans) {
		List<ListenerMethod> found = ListenerMethod.findAll(beans, OutboxHandler.class);
		assertThat(found).hasSize(1);
		return found.get(0);
	}

	static class ReturnsAnything {

		@OutboxHandler(type = "one", name = "returnsAnything.handle")
		Object handle(Object payload) {
			return payload;
		}

	}

	record Order(String id) {

	}

	abstract static class Base<T> {

		@OutboxHandler(type = "one", name = "base.handle")
		void handle(T payload) {
		}

	}

	static class Inherits extends Base<Order> {

	}

	static class TakesText extends Base<String> {

	}

	interface Contract<T> {

		@OutboxHandler(type = "one", name = "contract.handle")
		default void handle(List<T> payload) {
		}

	}

	static class Implements implements Contract<Order> {

	}

}
