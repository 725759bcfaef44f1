package dev.idempotent.idempotency.operation;

import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

/**
 * The names of the operations of an application that are part of their keys. Each belongs
 * to one method of one bean: two of them would answer each other's calls. Thread-safe.
 */
public final class OperationNames {

	private static final int MAX_LENGTH = 100;

	private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

	private static final Pattern WORD_BEGIN = Pattern.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])");

	private final Shared shared;

	private final String namespace;

	/**
	 * Creates names that nothing else is compared with.
	 */
	public OperationNames() {
		this(new Shared(), "");
	}

	/**
	 * Creates the names of a context.
	 * @param shared has the names of all contexts that are compared with this one
	 * @param namespace the namespace of its keys: keys of another namespace differ
	 */
	public OperationNames(Shared shared, String namespace) {
		this.shared = shared;
		this.namespace = namespace;
	}

	/**
	 * Checks that an operation whose keys include its name has one.
	 * @param type the target class
	 * @param method the method
	 * @param annotation its annotation
	 * @throws IdempotentConfigurationException if it has none
	 */
	public static void require(Class<?> type, Method method, Idempotent annotation) {
		if (annotation.name().isEmpty()) {
			throw OperationSettings.mistake(IdempotentConfigurationException.describe(type, method), "has no name",
					"Set a name that never changes, such as name = \"" + proposal(type, method)
							+ "\": it is part of the operation's keys. A name that is derived from the method would "
							+ "change when the method is renamed, and completed calls would run again.",
					null);
		}
	}

	/**
	 * Adds an operation whose keys include its name.
	 * @param name the name
	 * @param bean the name of its bean
	 * @param instance the bean without its proxies, or {@code null} if it is not known
	 * @param described the description of its method
	 * @throws IdempotentConfigurationException if another operation has the name
	 */
	public void add(String name, String bean, @Nullable Object instance, String described) {
		synchronized (this.shared) {
			List<Owner> owners = this.shared.owners.computeIfAbsent(List.of(this.namespace, name),
					(unused) -> new ArrayList<>());
			owners.forEach((other) -> requireSame(name, other, bean, instance, described));
			if (owners.stream().noneMatch((other) -> other.names() == this)) {
				owners.add(new Owner(this, bean, new WeakReference<>(instance), described));
			}
		}
	}

	/**
	 * Frees the names of a context that is closed.
	 */
	public void close() {
		synchronized (this.shared) {
			this.shared.owners.values().forEach((owners) -> owners.removeIf((owner) -> owner.names() == this));
			this.shared.owners.values().removeIf(List::isEmpty);
		}
	}

	private static void requireSame(String name, Owner other, String bean, @Nullable Object instance,
			String described) {
		if (!other.isSame(bean, instance, described)) {
			throw OperationSettings.mistake(described,
					"of the bean '%s' has the name '%s', as has %s of the bean '%s': a call of one would be answered with the result of the other"
						.formatted(bean, name, other.described(), other.bean()),
					other.described().equals(described)
							? "Give each bean a method with a name of its own, for example in a subclass that overrides "
									+ "and annotates it, or call IdempotencyTemplate.execute with an operation for each bean."
							: "Give each of them a name of its own; the one whose keys are stored keeps its name.",
					null);
		}
	}

	/**
	 * Checks a name that is set.
	 * @throws IdempotentConfigurationException if it is too long, or has other characters
	 */
	static void check(String described, String name) {
		if (name.contains("${")) {
			throw OperationSettings.mistake(described,
					"has the name '" + name + "', in which placeholders are not replaced", "Write the name itself.",
					null);
		}
		if (!name.isEmpty() && (name.length() > MAX_LENGTH || !NAME.matcher(name).matches())) {
			throw OperationSettings.mistake(described, "has the invalid name '" + name + "'",
					"Set a name of at most " + MAX_LENGTH
							+ " letters (A to Z), digits, dots, hyphens and underscores that begins with a letter or "
							+ "a digit, such as name = \"place-order\".",
					null);
		}
	}

	private static String proposal(Class<?> type, Method method) {
		String simple = type.getSimpleName();
		return (simple.isEmpty() ? "" : kebab(simple) + ".") + kebab(method.getName());
	}

	private static String kebab(String name) {
		return WORD_BEGIN.matcher(name).replaceAll("-").toLowerCase(Locale.ROOT);
	}

	/**
	 * The names of several contexts.
	 */
	public static final class Shared {

		/**
		 * By the namespace and the name; one owner of each context.
		 */
		private final Map<List<String>, List<Owner>> owners = new HashMap<>();

	}

	/**
	 * The bean and the method that have a name. A bean of a session must not outlive it.
	 */
	private record Owner(OperationNames names, String bean, WeakReference<@Nullable Object> instance,
			String described) {

		/**
		 * A bean may have two names, and a child context may repeat one of its parent.
		 */
		boolean isSame(String otherBean, @Nullable Object other, String otherDescribed) {
			return this.described.equals(otherDescribed)
					&& (this.bean.equals(otherBean) || (other != null && this.instance.refersTo(other)));
		}

	}

}
