package dev.idempotent.stream;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;

/**
 * A listener method and the consumer group that it belongs to.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param concurrency the number of workers
 * @param method called for each entry
 */
record Subscription(String stream, String group, int concurrency, ListenerMethod method) {

	@Override
	public String toString() {
		return "group " + this.group + " of stream " + this.stream;
	}

	ConsumerGroup consumerGroup() {
		return new ConsumerGroup(this.stream, this.group);
	}

	String deadStream() {
		return this.stream + "." + this.group + ".dead";
	}

	/**
	 * A method of a bean and the arguments that it takes from an entry.
	 */
	static final class ListenerMethod {

		private static final String HEADERS = ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)
			.getType()
			.getTypeName();

		private final Object bean;

		private final Method method;

		private final List<Type> parameters;

		private final PayloadConverter converter;

		/**
		 * Creates a method.
		 * @param bean the bean to call, including its proxies
		 * @param method declared by the bean's class
		 * @param parameters the types in their order; {@code Map<String, String>}
		 * receives the headers
		 * @param converter converts the payload
		 */
		ListenerMethod(Object bean, Method method, List<Type> parameters, PayloadConverter converter) {
			this.bean = bean;
			this.method = method;
			this.parameters = parameters;
			this.converter = converter;
		}

		static boolean isHeaders(Type type) {
			return !(type instanceof Class<?>) && type.getTypeName().equals(HEADERS);
		}

		/**
		 * Calls the method.
		 * @throws UnreadablePayloadException if the payload cannot be converted
		 * @throws Throwable what the method throws
		 */
		void invoke(Entry entry) throws Throwable {
			@Nullable Object[] arguments = new @Nullable Object[this.parameters.size()];
			for (int i = 0; i < arguments.length; i++) {
				arguments[i] = argument(entry, this.parameters.get(i));
			}
			try {
				this.method.invoke(this.bean, arguments);
			}
			catch (InvocationTargetException ex) {
				throw ex.getTargetException();
			}
		}

		private @Nullable Object argument(Entry entry, Type type) throws UnreadablePayloadException {
			if (isHeaders(type)) {
				return entry.headers();
			}
			byte[] payload = entry.payload();
			if (payload == null) {
				throw new UnreadablePayloadException("The entry has no field named 'payload'", null);
			}
			if (type == byte[].class) {
				return payload;
			}
			try {
				return (type == String.class) ? Entry.text(payload) : this.converter.read(payload, type);
			}
			catch (RuntimeException ex) {
				throw new UnreadablePayloadException("The payload cannot be converted to " + type.getTypeName(), ex);
			}
		}

		/**
		 * Thrown when an entry has no payload, or its payload cannot be converted to the
		 * listener's parameter. Redelivery cannot fix that.
		 */
		static final class UnreadablePayloadException extends Exception {

			UnreadablePayloadException(String message, @Nullable Throwable cause) {
				super(message, cause);
			}

		}

	}

}
