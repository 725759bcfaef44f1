package dev.idempotent.autoconfigure.aot;

import java.util.List;
import java.util.Map;

import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.TransactionalOutbox;
import dev.idempotent.saga.Saga;
import dev.idempotent.stream.RedisStreamListener;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.beans.factory.aot.AotServices;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What annotated methods of an application need in a native image.
 */
class AnnotatedMethodHintsTests {

	@Test
	void areRegisteredWithTheLibrary() {
		assertThat(AotServices.factories().load(BeanRegistrationAotProcessor.class).asList())
			.hasAtLeastOneElementOfType(AnnotatedMethodHints.class);
	}

	@Test
	void includeTheMethodItself() throws NoSuchMethodException {
		assertThat(RuntimeHintsPredicates.reflection()
			.onMethodInvocation(Bookings.class.getDeclaredMethod("listen", Cancelled.class))).accepts(hints());
	}

	@Test
	void includeWhatExpressionsReadOfArguments() {
		RuntimeHints hints = hints();
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Booking.class, "guest")).accepts(hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethodInvocation(Guest.class, "id")).accepts(hints);
	}

	@Test
	void includeWhatJacksonReadsAndWrites() {
		RuntimeHints hints = hints();
		for (Class<?> type : List.of(Confirmation.class, Booked.class, Plan.class, Cancelled.class, Shipped.class)) {
			assertThat(RuntimeHintsPredicates.reflection().onType(type)).accepts(hints);
		}
	}

	@Test
	void leaveWebHandlersToSpringMvc() {
		assertThat(RuntimeHintsPredicates.reflection().onType(HttpServletRequest.class)).rejects(hints());
	}

	/**
	 * Only the hints of this library.
	 */
	private static RuntimeHints hints() {
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get(AnnotatedMethodHintsTests.class)), new InMemoryGeneratedFiles());
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.register(Bookings.class, Web.class);
			new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		}
		return generation.getRuntimeHints();
	}

	record Guest(String id) {

	}

	record Booking(Guest guest) {

	}

	record Confirmation(String number) {

	}

	record Booked(String number) {

	}

	record Shipped(String number) {

	}

	record Plan(String name) {

	}

	record Cancelled(String number) {

	}

	static class Bookings {

		@Idempotent(key = "#booking.guest.id", name = "bookings.book")
		Confirmation book(Booking booking) {
			return new Confirmation(booking.guest().id());
		}

		@TransactionalOutbox(type = "booked")
		List<Booked> publish() {
			return List.of();
		}

		@OutboxHandler(type = "shipped", name = "bookings.ship")
		void ship(Shipped event) {
		}

		@Saga(name = "plan", key = "#plans")
		void plan(Map<String, Plan> plans) {
		}

		@RedisStreamListener(stream = "cancellations", group = "bookings")
		void listen(Cancelled event) {
		}

	}

	@RestController
	static class Web {

		@Idempotent
		@PostMapping("/")
		void post(HttpServletRequest request) {
		}

	}

}
