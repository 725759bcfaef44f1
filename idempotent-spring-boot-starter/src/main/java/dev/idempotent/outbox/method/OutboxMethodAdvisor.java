package dev.idempotent.outbox.method;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.advice.AnnotatedMethodAdvisor;
import dev.idempotent.outbox.Outbox;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.core.annotation.RepeatableContainers;
import org.springframework.util.function.SingletonSupplier;

/**
 * Appends the events of {@code @TransactionalOutbox} methods. Must be innermost: within
 * the method's transaction, and within any advice that may return without calling the
 * method.
 */
public final class OutboxMethodAdvisor extends AnnotatedMethodAdvisor<OutboxMethodAdvisor.OutboxMethod> {

	private final Supplier<Outbox> outbox;

	private final Supplier<OutboxTopics> topics;

	private final UnaryOperator<String> placeholders;

	/**
	 * Creates an advisor.
	 * @param outbox supplies the outbox at the first call
	 * @param topics supplies the topics when the first annotation is read
	 * @param placeholders replaces the placeholders of a topic; throws an
	 * {@link IllegalArgumentException} for an unknown one
	 */
	public OutboxMethodAdvisor(Supplier<Outbox> outbox, Supplier<OutboxTopics> topics,
			UnaryOperator<String> placeholders) {
		super(TransactionalOutbox.class, Outbox.class);
		this.outbox = SingletonSupplier.of(outbox);
		this.topics = SingletonSupplier.of(topics);
		this.placeholders = placeholders;
	}

	@Override
	protected OutboxMethod read(AnnotatedMethod method) {
		List<TransactionalOutbox> annotations = MergedAnnotations
			.from(method.method(), SearchStrategy.TYPE_HIERARCHY, RepeatableContainers.standardRepeatables())
			.stream(TransactionalOutbox.class)
			.map(MergedAnnotation::synthesize)
			.toList();
		return OutboxMethod.of(method, annotations, this.topics.get(), this.placeholders);
	}

	@Override
	protected @Nullable Object invoke(OutboxMethod method, MethodInvocation invocation) throws Throwable {
		Outbox outbox = this.outbox.get();
		// Fails before the work is done, not after it.
		outbox.requireTransaction();
		Object result = invocation.proceed();
		outbox.append(method.events(invocation.getArguments(), result));
		return result;
	}

	/**
	 * The events that follow from a call of an annotated method.
	 */
	record OutboxMethod(List<String> parameterNames, List<EventMapping> mappings) {

		/**
		 * Reads the annotations of a method.
		 * @throws dev.idempotent.IdempotentConfigurationException if one is invalid
		 */
		static OutboxMethod of(AnnotatedMethod method, List<TransactionalOutbox> annotations, OutboxTopics topics,
				UnaryOperator<String> placeholders) {
			List<String> names = method.parameterNames();
			List<EventMapping> mappings = new ArrayList<>();
			for (TransactionalOutbox annotation : annotations) {
				EventMapping mapping = EventMapping.of(method, annotation, names,
						(topic) -> topic(method, topic, annotation.type(), topics, placeholders));
				if (mapping.refersTo(EventMapping.RESULT)) {
					requireUnambiguous(method, names, EventMapping.RESULT, "the result of the method");
					requireResult(method);
				}
				if (annotation.forEach() && mapping.refersTo(EventMapping.ITEM)) {
					requireUnambiguous(method, names, EventMapping.ITEM, "an element of the payload");
				}
				mappings.add(mapping);
			}
			return new OutboxMethod(names, mappings);
		}

		/**
		 * Creates the events of a call that has returned.
		 * @throws IllegalArgumentException if an expression cannot be evaluated for the
		 * call
		 */
		List<OutboxEvent> events(@Nullable Object[] arguments, @Nullable Object result) {
			Map<String, @Nullable Object> variables = new HashMap<>();
			for (int i = 0; i < this.parameterNames.size(); i++) {
				variables.put(this.parameterNames.get(i), arguments[i]);
			}
			variables.put(EventMapping.RESULT, result);
			return this.mappings.stream().flatMap((mapping) -> mapping.events(variables).stream()).toList();
		}

		private static String topic(AnnotatedMethod method, String stated, String type, OutboxTopics topics,
				UnaryOperator<String> placeholders) {
			@Nullable String topic = stated.isEmpty() ? null : resolve(method, stated, placeholders);
			try {
				String known = topics.resolve(topic);
				List<String> unused = topics.resolve(known, type);
				return known;
			}
			catch (IllegalArgumentException ex) {
				throw method.invalid("has no topic to send to: " + ex.getMessage(),
						"Set a topic that a publisher serves, set idempotent.outbox.default-topic, or add the library that brings "
								+ "the publisher (spring-boot-starter-data-redis for redis-stream, "
								+ "spring-boot-starter-kafka for kafka). For the topic handlers, annotate a method of a bean "
								+ "with @OutboxHandler and the same type.",
						ex);
			}
		}

		private static String resolve(AnnotatedMethod method, String stated, UnaryOperator<String> placeholders) {
			try {
				return placeholders.apply(stated);
			}
			catch (IllegalArgumentException ex) {
				throw method.invalid("has the topic '" + stated + "', which has a placeholder without a value",
						"Set the property that it names, or add a default value, as in ${shop.topic:orders}.", ex);
			}
		}

		private static void requireUnambiguous(AnnotatedMethod method, List<String> names, String variable,
				String meaning) {
			if (names.contains(variable)) {
				throw method.invalid("has a parameter named '" + variable + "', and an expression refers to #"
						+ variable + ", which is " + meaning, "Rename the parameter.", null);
			}
		}

		private static void requireResult(AnnotatedMethod method) {
			Class<?> returned = method.method().getReturnType();
			if (returned == void.class || returned == Void.class) {
				throw method.invalid("returns nothing, and an expression refers to #result",
						"Set a payload, such as payload = \"#order\".", null);
			}
			if (Callable.class.isAssignableFrom(returned) || method.returnsEarly()) {
				throw method.invalid(
						"returns a " + returned.getSimpleName()
								+ ", whose value may be known only after its transaction",
						"Return the value itself, or refer to parameters only.", null);
			}
		}

	}

}
