package dev.idempotent.saga.method;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.CompletionStage;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.saga.Saga;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * The attributes of a {@code @Saga} that is valid on its method.
 *
 * @param name the name
 * @param timeout the time until the deadline
 */
record SagaAttributes(String name, Duration timeout) {

	private static final int MAX_NAME = 100;

	private static final Duration MIN_TIMEOUT = Duration.ofMillis(1);

	/**
	 * Reads an annotation.
	 * @throws IdempotentConfigurationException if it or its method is invalid
	 */
	static SagaAttributes of(AnnotatedMethod method, Saga annotation, SagaMethodSettings settings) {
		requireNoOtherRole(method, settings);
		requireResult(method);
		return new SagaAttributes(name(method, annotation.name()),
				timeout(method, settings.placeholders().apply(annotation.timeout())));
	}

	private static void requireNoOtherRole(AnnotatedMethod method, SagaMethodSettings settings) {
		if (method.isWebHandler()) {
			throw method.invalid("is a web handler, which only a request can call",
					"Let the handler call a @Saga method of another bean.", null);
		}
		if (AnnotatedElementUtils.hasAnnotation(method.method(), Idempotent.class)) {
			throw method.invalid("is @Idempotent, too, and a saga has a key and a result of its own",
					"Remove @Idempotent, or let an @Idempotent method call the @Saga method of another bean.", null);
		}
		if (settings.attributes().getTransactionAttribute(method.method(), method.type()) != null) {
			throw method.invalid(
					"is @Transactional, too (itself or its class), and each step of a saga commits by itself",
					"Remove @Transactional, and run what needs a transaction in steps with runInTransaction.", null);
		}
	}

	private static void requireResult(AnnotatedMethod method) {
		if (ResultCodec.isUnrepeatable(method) || isFuture(method.method().getReturnType())) {
			throw method.invalid(
					"returns " + method.method().getReturnType().getTypeName()
							+ ", and a saga ends when its method returns",
					"Return a value or a collection. Sagas.start runs a saga in the background.", null);
		}
	}

	private static boolean isFuture(Class<?> type) {
		return CompletionStage.class.isAssignableFrom(type) || Future.class.isAssignableFrom(type);
	}

	private static String name(AnnotatedMethod method, String stated) {
		String name = !stated.isEmpty() ? stated : method.type().getSimpleName() + "." + method.method().getName();
		if (name.isBlank() || name.length() > MAX_NAME) {
			throw method.invalid(
					name.isBlank() ? "has a blank name" : "has a name of more than " + MAX_NAME + " characters",
					"Set its attribute 'name' to a text of at most " + MAX_NAME + " characters.", null);
		}
		return name;
	}

	private static Duration timeout(AnnotatedMethod method, String text) {
		try {
			Duration timeout = DurationFormatterUtils.detectAndParse(text);
			if (timeout.compareTo(MIN_TIMEOUT) >= 0 && timeout.compareTo(IdempotencyStore.MAX_DURATION) <= 0) {
				return timeout;
			}
		}
		catch (IllegalArgumentException ex) {
			throw badTimeout(method, text, ex);
		}
		throw badTimeout(method, text, null);
	}

	private static IdempotentConfigurationException badTimeout(AnnotatedMethod method, String text,
			@Nullable Exception cause) {
		return method.invalid("has the timeout '" + text + "', which is not a duration between 1 ms and 10 years",
				"Use a format such as 30s, 10m or PT30S.", cause);
	}

}
