package dev.idempotent.saga.method;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

import dev.idempotent.advice.AnnotatedMethod;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.run.SagaDefinition;
import org.springframework.aop.Advisor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.Assert;

/**
 * The sagas of an application, and the beans that have them.
 */
public final class SagaMethods {

	private final ConfigurableListableBeanFactory beans;

	private final SagaMethodSettings settings;

	private final Map<AnnotatedMethod, SagaMethod> read = new ConcurrentHashMap<>();

	private final Map<AnnotatedMethod, String> beanNames = new ConcurrentHashMap<>();

	/**
	 * Creates an empty list.
	 * @param beans the beans of the application
	 * @param settings the settings of all sagas
	 */
	public SagaMethods(ConfigurableListableBeanFactory beans, SagaMethodSettings settings) {
		this.beans = beans;
		this.settings = settings;
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

	SagaMethod read(AnnotatedMethod method, Advisor advisor) {
		Saga annotation = AnnotatedElementUtils.findMergedAnnotation(method.method(), Saga.class);
		Assert.state(annotation != null, method::describe);
		SagaMethod saga = new SagaMethod(method, annotation, this.settings,
				new AdvisedBody(advisor, method, () -> beanOf(method)));
		SagaMethod earlier = this.read.putIfAbsent(method, saga);
		return (earlier != null) ? earlier : saga;
	}

	private SagaMethod find(AnnotatedMethod method) {
		SagaMethod saga = this.read.get(method);
		Assert.state(saga != null, method::describe);
		return saga;
	}

	private Object beanOf(AnnotatedMethod method) {
		String name = this.beanNames.get(method);
		if (name == null) {
			throw new IllegalStateException("The saga " + method.describe() + " was called while the application "
					+ "starts. Call it later, such as in an ApplicationRunner");
		}
		return this.beans.getBean(name);
	}

}
