package dev.idempotent.transaction;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import dev.idempotent.IdempotentConfigurationException;
import dev.idempotent.jdbc.DatabaseRequirements;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.annotation.BeanFactoryAnnotationUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;

/**
 * What all features of the library require of the application's transaction manager,
 * checked at the start.
 */
public final class TransactionRequirements {

	private TransactionRequirements() {
	}

	/**
	 * Finds the transaction manager of a feature.
	 * @param beans contains the managers
	 * @param name the name of its bean, or {@code null} for the only or primary one
	 * @param reason why one is required: a clause
	 * @param place where to name one, as the end of a sentence
	 * @return the manager
	 * @throws IdempotentConfigurationException if there is none, or several of which none
	 * is primary
	 */
	public static PlatformTransactionManager requireManager(BeanFactory beans, @Nullable String name, String reason,
			String place) {
		TransactionManager manager = (name != null) ? named(beans, name, reason, place)
				: beans.getBeanProvider(TransactionManager.class).getIfUnique();
		if (manager == null) {
			throw new IdempotentConfigurationException(
					reason + ", and there is no transaction manager, or several without a primary one.",
					"Add spring-boot-starter-jdbc or -data-jpa, or name one in " + place + ".");
		}
		if (manager instanceof PlatformTransactionManager found) {
			return found;
		}
		throw new IdempotentConfigurationException(reason + ", and its transaction manager is reactive.",
				"Name another one in " + place + ".");
	}

	private static TransactionManager named(BeanFactory beans, String name, String reason, String place) {
		try {
			return BeanFactoryAnnotationUtils.qualifiedBeanOfType(beans, TransactionManager.class, name);
		}
		catch (BeansException ex) {
			throw new IdempotentConfigurationException(
					reason + ", and there is not exactly one transaction manager '" + name + "'.",
					"Name one in " + place + ".", ex);
		}
	}

	/**
	 * Requires that a manager begins its transactions on a data source, and on no other
	 * one. Only logs a warning if the database does not answer.
	 * @param manager the manager
	 * @param dataSource the data source whose connections it must bind
	 * @param reason why that is required: a clause
	 * @param place where to name another one, as the end of a sentence
	 * @return {@code false} if the database does not answer
	 * @throws IdempotentConfigurationException if it does not
	 */
	public static boolean requireTransactions(PlatformTransactionManager manager, DataSource dataSource, String reason,
			String place) {
		if (isJta(manager)) {
			throw jta(manager, reason, "Name the DataSourceTransactionManager or JpaTransactionManager of the "
					+ "application's DataSource in " + place + ".");
		}
		boolean bound;
		boolean several;
		try {
			Set<Object> before = TransactionGuard.connections(Set.of()).collect(Collectors.toUnmodifiableSet());
			TransactionStatus status = TransactionGuard.begin(manager,
					new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_REQUIRES_NEW));
			bound = TransactionGuard.isBound(dataSource);
			several = TransactionGuard.connections(before).count() > 1;
			manager.rollback(status);
		}
		catch (TransactionException ex) {
			DatabaseRequirements.warnOfSilence("the transaction manager", ex);
			return false;
		}
		if (!bound) {
			throw new IdempotentConfigurationException(
					reason + ", and its transaction manager (" + manager.getClass().getName()
							+ ") does not work on the application's DataSource.",
					"Mark the DataSource of the manager as @Primary, or name a manager that works on the "
							+ "application's DataSource in " + place + ".");
		}
		if (several) {
			throw new IdempotentConfigurationException(
					reason + ", and its transaction manager (" + manager.getClass().getName()
							+ ") commits the transactions of several databases one after another: if one commit fails, "
							+ "those before it remain.",
					"Name the manager of one DataSource in " + place + ".");
		}
		return true;
	}

	/**
	 * Rejects an application all of whose transaction managers are ones of JTA.
	 * @param beans contains the managers
	 * @param reason why another one is required: a clause
	 * @throws IdempotentConfigurationException if there is no other one
	 */
	public static void requireOtherThanJta(BeanFactory beans, String reason) {
		List<TransactionManager> all = beans.getBeanProvider(TransactionManager.class).stream().toList();
		if (!all.isEmpty() && all.stream().allMatch(TransactionRequirements::isJta)) {
			throw jta(all.get(0), reason,
					"Use the DataSourceTransactionManager or JpaTransactionManager of the application's DataSource.");
		}
	}

	private static IdempotentConfigurationException jta(TransactionManager manager, String reason, String action) {
		return new IdempotentConfigurationException(reason + ", and its transaction manager ("
				+ manager.getClass().getName() + ") is one of JTA, which is not supported.", action);
	}

	/**
	 * Returns whether a manager is one of JTA, which binds no connection when a
	 * transaction begins.
	 */
	private static boolean isJta(TransactionManager manager) {
		// By name, because the class needs the API of JTA.
		return Stream.<Class<?>>iterate(manager.getClass(), Objects::nonNull, Class::getSuperclass)
			.anyMatch((type) -> type.getName().equals("org.springframework.transaction.jta.JtaTransactionManager"));
	}

}
