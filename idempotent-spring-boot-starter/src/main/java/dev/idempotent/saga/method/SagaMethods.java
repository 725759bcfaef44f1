package dev.idempotent.saga.method;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.aop.AnnotatedMethod;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.canonical.CanonicalJson;
import dev.idempotent.idempotency.canonical.CanonicalValues;
import dev.idempotent.idempotency.canonical.IncomparableValueException;
import dev.idempotent.idempotency.canonical.OmittedMembers;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.idempotency.method.StoredJson;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.engine.SagaDefinition;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.transaction.interceptor.TransactionAttributeSource;
import org.springframework.util.Assert;
import tools.jackson.databind.json.JsonMapper;

/**
 * The sagas of an application, and the beans that have them.
 */
public final class SagaMethods {

	private final ConfigurableListableBeanFactory beans;

	private final SagaKeys keys;

	private final JsonMapper json;

	private final CanonicalValues values;

	private final TransactionAttributeSource transactions;

	private final Map<AnnotatedMethod, SagaMethod> read = new ConcurrentHashMap<>();

	private final Map<AnnotatedMethod, String> beanNames = new ConcurrentHashMap<>();

	/**
	 * Creates an empty list.
	 * @param beans the beans of the application
	 * @param namespace the namespace of keys
	 * @param json writes and reads arguments and results
	 * @param values compares arguments and results
	 * @param transactions reads {@code @Transactional}, which a saga must not have
	 */
	public SagaMethods(ConfigurableListableBeanFactory beans, String namespace, JsonMapper json, CanonicalValues values,
			TransactionAttributeSource transactions) {
		this.beans = beans;
		this.keys = new SagaKeys(namespace, values);
		this.json = StoredJson.mapper(json);
		this.values = values;
		this.transactions = transactions;
	}

	/**
	 * Adds a saga.
	 * @param beanName the name of the bean
	 * @param method the method, which its advisor has read
	 * @throws dev.idempotent.IdempotentConfigurationException if the bean is not a
	 * singleton, or the application has another saga of the same name
	 */
	public void add(String beanName, AnnotatedMethod method) {
		if (!this.beans.isSingleton(beanName)) {
			throw method.invalid(
					"belongs to the bean '" + beanName + "', which is not a singleton, so another thread cannot run it",
					"Move the saga to a singleton bean.", null);
		}
		String name = find(method).name();
		this.beanNames.forEach((other, otherBean) -> {
			if (find(other).name().equals(name)) {
				throw method.invalid(
						"of the bean '%s' has the name '%s', as has %s of the bean '%s'".formatted(beanName, name,
								other.describe(), otherBean),
						"Set the attribute 'name' of one of them, or declare one bean: the name selects the method that "
								+ "continues a saga.",
						null);
			}
		});
		this.beanNames.put(method, beanName);
	}

	/**
	 * Returns the sagas that this application can run.
	 * @return the added sagas, by their names
	 */
	public Collection<SagaDefinition> definitions() {
		Map<String, SagaDefinition> byName = new TreeMap<>();
		this.beanNames.keySet().forEach((method) -> byName.put(find(method).name(), find(method)));
		return List.copyOf(byName.values());
	}

	/**
	 * The ids of sagas.
	 * @return computes ids, also of sagas that this application cannot run
	 */
	public SagaKeys keys() {
		return this.keys;
	}

	/**
	 * Returns the stored form of the value of a signal, in which the result of a step of
	 * the same type is stored.
	 * @throws IllegalArgumentException if it cannot be stored
	 */
	byte[] contentOf(String signal, @Nullable Object value) {
		Class<?> type = typeOf(value);
		try {
			return new ResultCodec(this.json, this.values, this.json.constructType(type), "signal '" + signal + "'")
				.encode(value)
				.bytes();
		}
		catch (IdempotencyResultException ex) {
			throw new IllegalArgumentException(
					"The value of the signal '" + signal + "' cannot be written as JSON of " + type.getTypeName()
							+ " and read back. Pass a value of a class of your own, such as a record, whose "
							+ "members JSON contains and which declares what they are",
					ex);
		}
	}

	/**
	 * Returns the stored form of a value of which only the JSON is known.
	 * @throws IllegalArgumentException if it is not JSON
	 */
	byte[] contentOfJson(byte[] json) {
		if (CanonicalJson.of(json) == null) {
			throw new IllegalArgumentException("The value is not JSON");
		}
		return ResultCodec.ofJson(json).bytes();
	}

	/**
	 * Returns the fingerprint of the value of a signal.
	 * @throws IllegalArgumentException if it cannot be compared
	 */
	Fingerprint fingerprintOf(String signal, @Nullable Object value) {
		try {
			return Fingerprint.of(List.of(this.values.encode(typeOf(value), value, OmittedMembers.NONE)));
		}
		catch (IncomparableValueException ex) {
			throw new IllegalArgumentException(
					"The value of the signal '" + signal + "' cannot be compared with another " + "one: "
							+ ex.getMessage() + ". Pass a value of a class of your own, such as a record, or declare a "
							+ "bean of type CanonicalForm for the class",
					ex);
		}
	}

	private static Class<?> typeOf(@Nullable Object value) {
		return (value == null) ? Void.class
				: (value instanceof Enum<?> constant) ? constant.getDeclaringClass() : value.getClass();
	}

	SagaMethod read(AnnotatedMethod method, Advisor advisor) {
		Saga annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), Saga.class);
		Assert.state(annotation != null, method::describe);
		requireNoOtherRole(method);
		SagaMethod saga = new SagaMethod(method, annotation,
				String.valueOf(this.beans.resolveEmbeddedValue(annotation.timeout())), this.keys, this.json,
				this.values, new AdvisedBody(advisor, method, () -> beanOf(method)));
		SagaMethod earlier = this.read.putIfAbsent(method, saga);
		return (earlier != null) ? earlier : saga;
	}

	private void requireNoOtherRole(AnnotatedMethod method) {
		if (method.isWebHandler()) {
			throw method.invalid("is a web handler, which only a request can call",
					"Let the handler call a @Saga method of another bean.", null);
		}
		if (AnnotatedElementUtils.hasAnnotation(method.method(), Idempotent.class)) {
			throw method.invalid("is @Idempotent, too, and a saga has a key and a result of its own",
					"Remove @Idempotent, or let an @Idempotent method call the @Saga method of another bean.", null);
		}
		if (this.transactions.getTransactionAttribute(method.method(), method.type()) != null) {
			throw method.invalid(
					"is @Transactional, too (itself or its class), and each step of a saga commits by itself",
					"Remove @Transactional, and run what needs a transaction in steps with runInTransaction.", null);
		}
	}

	private SagaMethod find(AnnotatedMethod method) {
		SagaMethod saga = this.read.get(method);
		Assert.state(saga != null, method::describe);
		return saga;
	}

	private Object beanOf(AnnotatedMethod method) {
		String name = this.beanNames.get(method);
		if (name == null) {
			throw new IllegalStateException("The saga " + method.describe() + " was not run: the start has not found "
					+ "it. Call it after the start, such as in an ApplicationRunner. If that was done, declare the class "
					+ "of its bean as the return type of the @Bean method, so that the start knows it");
		}
		return this.beans.getBean(name);
	}

}
