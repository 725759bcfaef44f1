package dev.idempotent.idempotency.jdbc;

import dev.idempotent.IdempotentConfigurationException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.util.StringUtils;

/**
 * Finds the transaction manager of a method: the manager that the method names, the
 * configured one, or the only or primary one.
 */
final class TransactionManagers {

	private final BeanFactory beanFactory;

	private final @Nullable String configured;

	/**
	 * Creates a finder.
	 * @param beanFactory contains the managers
	 * @param configured the manager of methods that do not name one, or {@code null} for
	 * the only or primary one
	 */
	TransactionManagers(BeanFactory beanFactory, @Nullable String configured) {
		this.beanFactory = beanFactory;
		this.configured = configured;
	}

	/**
	 * Finds the manager of a method.
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	PlatformTransactionManager managerOf(String described, @Nullable TransactionAttribute attribute) {
		String named = (attribute != null && StringUtils.hasText(attribute.getQualifier())) ? attribute.getQualifier()
				: this.configured;
		TransactionManager manager = (named != null) ? named(described, named) : only(described);
		if (manager instanceof PlatformTransactionManager bound) {
			return bound;
		}
		throw new IdempotentConfigurationException(
				"The method " + described + " has Guarantee.TRANSACTION, and its transaction manager is reactive.",
				"Name another one in its @Transactional or in idempotent.jdbc.transaction-manager, or use Guarantee.LEASE.",
				null);
	}

	private TransactionManager named(String described, String name) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(this.beanFactory, TransactionManager.class, name);
		}
		catch (BeansException ex) {
			throw new IdempotentConfigurationException("The method " + described
					+ " has Guarantee.TRANSACTION, and there is not exactly one transaction manager '" + name + "'.",
					"Name one in its @Transactional or in idempotent.jdbc.transaction-manager.", ex);
		}
	}

	private TransactionManager only(String described) {
		TransactionManager manager = this.beanFactory.getBeanProvider(TransactionManager.class).getIfUnique();
		if (manager == null) {
			throw new IdempotentConfigurationException("The method " + described
					+ " has Guarantee.TRANSACTION, and there is no transaction manager, or several without a primary one.",
					"Add spring-boot-starter-jdbc or -data-jpa, or name one in idempotent.jdbc.transaction-manager.",
					null);
		}
		return manager;
	}

}
