package dev.idempotent.outbox.method;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.outbox.OutboxEvent;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.TransactionalOutbox;
import org.jspecify.annotations.Nullable;
import org.springframework.core.DefaultParameterNameDiscoverer;

/**
 * An annotated method: which events follow from a call.
 */
final class OutboxMethod {

	static final String RESULT = "result";

	private static final String PUBLISHER = "org.reactivestreams.Publisher";

	private final List<String> names;

	private final List<EventMapping> templates;

	private OutboxMethod(List<String> names, List<EventMapping> templates) {
		this.names = names;
		this.templates = templates;
	}

	/**
	 * Reads annotations.
	 * @throws IdempotentConfigurationException if they ask for what cannot be
	 */
	static OutboxMethod of(Class<?> type, Method method, List<TransactionalOutbox> annotations, OutboxTopics topics) {
		String described = describe(type, method);
		List<String> names = parameterNames(described, method);
		List<EventMapping> templates = new ArrayList<>();
		for (TransactionalOutbox annotation : annotations) {
			EventMapping template = EventMapping.of(described, annotation, names, topics);
			if (template.refersTo(RESULT)) {
				checkParameters(described, names, RESULT);
				checkResult(described, method);
			}
			if (annotation.forEach() && template.refersTo(EventMapping.ITEM)) {
				checkParameters(described, names, EventMapping.ITEM);
			}
			templates.add(template);
		}
		return new OutboxMethod(names, templates);
	}

	/**
	 * The events of a call that has returned.
	 * @throws IllegalArgumentException if an expression does not yield what it is to
	 */
	List<OutboxEvent> events(@Nullable Object[] arguments, @Nullable Object result) {
		Map<String, @Nullable Object> variables = new HashMap<>();
		for (int i = 0; i < this.names.size(); i++) {
			variables.put(this.names.get(i), arguments[i]);
		}
		variables.put(RESULT, result);
		return this.templates.stream().flatMap((template) -> template.events(variables).stream()).toList();
	}

	static String describe(Class<?> type, Method method) {
		return type.getName() + "." + method.getName()
				+ Arrays.stream(method.getParameterTypes())
					.map(Class::getTypeName)
					.collect(Collectors.joining(", ", "(", ")"));
	}

	static IdempotentConfigurationException mistake(String described, String mistake, String action,
			@Nullable Exception cause) {
		return new IdempotentConfigurationException(
				"The @TransactionalOutbox method " + described + " " + mistake + ".", action, cause);
	}

	private static List<String> parameterNames(String described, Method method) {
		@Nullable String[] names = new DefaultParameterNameDiscoverer().getParameterNames(method);
		if (names == null && method.getParameterCount() > 0) {
			throw mistake(described, "does not tell the names of its parameters",
					"Compile with -parameters (spring-boot-starter-parent and the Gradle plugin set it; "
							+ "otherwise set maven.compiler.parameters=true).",
					null);
		}
		List<String> all = (names == null) ? List.of() : Arrays.asList(names);
		return all;
	}

	/**
	 * What an expression means by a name is not to be guessed.
	 */
	private static void checkParameters(String described, List<String> names, String variable) {
		if (names.contains(variable)) {
			throw mistake(described,
					"has a parameter named '" + variable + "', and an expression refers to #" + variable + ", which is "
							+ (variable.equals(RESULT) ? "what the method returns" : "an element of the payload"),
					"Give the parameter another name.", null);
		}
	}

	private static void checkResult(String described, Method method) {
		Class<?> returned = method.getReturnType();
		if (returned == void.class || returned == Void.class) {
			throw mistake(described, "returns nothing, and an expression refers to #result",
					"State a payload, such as payload = \"#order\".", null);
		}
		boolean later = Set.of(CompletionStage.class, Future.class, Callable.class)
			.stream()
			.anyMatch((kind) -> kind.isAssignableFrom(returned));
		if (later || isPublisher(returned)) {
			throw mistake(described, "returns what is known only when its transaction has ended",
					"Return the result itself, or refer to arguments only.", null);
		}
	}

	private static boolean isPublisher(Class<?> type) {
		return type.getName().equals(PUBLISHER)
				|| Arrays.stream(type.getInterfaces()).anyMatch(OutboxMethod::isPublisher)
				|| (type.getSuperclass() != null && isPublisher(type.getSuperclass()));
	}

}
