package dev.idempotent.outbox.handler;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.aop.ListenerMethod;
import dev.idempotent.outbox.OutboxHandler;
import dev.idempotent.outbox.relay.EventHandler;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The {@link OutboxHandler} methods of an application.
 */
public final class OutboxHandlers {

	/**
	 * Leaves room for the prefix of a topic.
	 */
	private static final int LONGEST_NAME = 200;

	private static final Pattern NAME = Pattern.compile("[^\\p{Cntrl}\\s:]+");

	private final ConfigurableListableBeanFactory beans;

	private final HandlerEnvironment environment;

	private volatile @Nullable Map<String, OutboxHandlerMethod> verified;

	/**
	 * Creates handlers, which are found when they are needed.
	 * @param beans the beans of the application
	 * @param environment what the application provides for them
	 */
	public OutboxHandlers(ConfigurableListableBeanFactory beans, HandlerEnvironment environment) {
		this.beans = beans;
		this.environment = environment;
	}

	/**
	 * Checks all handlers, and creates their beans.
	 * @return the names of the handlers
	 * @throws dev.idempotent.IdempotentConfigurationException if a handler cannot be
	 * called, or two have the same name
	 */
	public Set<String> verify() {
		Map<String, OutboxHandlerMethod> found = find();
		found.values().forEach(OutboxHandlerMethod::bind);
		this.verified = found;
		return found.keySet();
	}

	/**
	 * The names of the handlers of a type of events.
	 * @param type the type
	 * @return in alphabetical order
	 */
	public List<String> namesFor(String type) {
		return known().stream()
			.filter((handler) -> handler.type().equals(type))
			.map(OutboxHandlerMethod::name)
			.toList();
	}

	/**
	 * All handlers.
	 * @return in the alphabetical order of their names
	 */
	public List<EventHandler> all() {
		return List.copyOf(known());
	}

	/**
	 * Before all beans are created, the classes of some may be unknown: then the methods
	 * are searched each time.
	 */
	private Collection<OutboxHandlerMethod> known() {
		return Objects.requireNonNullElseGet(this.verified, this::find).values();
	}

	private Map<String, OutboxHandlerMethod> find() {
		Map<String, OutboxHandlerMethod> found = new TreeMap<>();
		for (ListenerMethod listener : ListenerMethod.findAll(this.beans, OutboxHandler.class)) {
			OutboxHandlerMethod handler = handler(listener);
			OutboxHandlerMethod other = found.put(handler.name(), handler);
			if (other != null) {
				throw listener.method()
					.invalid("has the name '" + handler.name() + "', as has " + other.method().method().describe(),
							"Give each handler a name of its own.", null);
			}
		}
		return found;
	}

	private OutboxHandlerMethod handler(ListenerMethod listener) {
		AnnotatedMethod method = listener.method();
		OutboxHandler annotation = Objects
			.requireNonNull(AnnotatedElementUtils.findMergedAnnotation(method.method(), OutboxHandler.class));
		if (annotation.type().isBlank()) {
			throw method.invalid("has no type", "Set one, such as type = \"order.placed\".", null);
		}
		String name = annotation.name();
		if (name.length() > LONGEST_NAME || !NAME.matcher(name).matches()) {
			throw method.invalid(name.isEmpty() ? "has no name" : "has the invalid name '" + name + "'",
					"Set a name of 1 to 200 characters without spaces and colons, such as name = \"mail\".", null);
		}
		if (annotation.batch() < 1) {
			throw method.invalid("has a batch of " + annotation.batch(), "Set at least 1.", null);
		}
		if (annotation.batch() > 1 && (listener.elementType() == null || !annotation.transactional())) {
			throw method.invalid(
					"takes up to " + annotation.batch() + " events at once, but "
							+ (annotation.transactional() ? "its only parameter is not a List of payloads"
									: "not in a transaction"),
					"Declare one parameter, such as List<Order>, and leave out transactional = false; or leave out batch, "
							+ "to take one event.",
					null);
		}
		return new OutboxHandlerMethod(name, annotation, listener, this.beans, this.environment);
	}

}
