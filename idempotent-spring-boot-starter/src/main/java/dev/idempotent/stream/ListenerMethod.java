package dev.idempotent.stream;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A method of a bean, and what it takes of an entry.
 */
final class ListenerMethod {

	private final Object bean;

	private final Method method;

	private final List<Type> parameters;

	private final PayloadConverter conversion;

	/**
	 * Creates a method.
	 * @param bean to be called, with its proxy
	 * @param method one that the bean's class has
	 * @param parameters the types in their order; {@code Map<String, String>} gets the
	 * headers
	 * @param conversion reads the payload
	 */
	ListenerMethod(Object bean, Method method, List<Type> parameters, PayloadConverter conversion) {
		this.bean = bean;
		this.method = method;
		this.parameters = parameters;
		this.conversion = conversion;
	}

	/**
	 * Calls the method.
	 * @throws UnreadablePayloadException if it was not called because of the payload
	 * @throws Throwable what the method has thrown
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
		if (ListenerParameters.isHeaders(type)) {
			return entry.headers();
		}
		byte[] payload = entry.payload();
		if (payload == null) {
			throw new UnreadablePayloadException("The entry has no field payload", null);
		}
		if (type == byte[].class) {
			return payload;
		}
		try {
			return (type == String.class) ? Entry.text(payload) : this.conversion.read(payload, type);
		}
		catch (RuntimeException ex) {
			throw new UnreadablePayloadException("The payload cannot be read as " + type.getTypeName(), ex);
		}
	}

}
