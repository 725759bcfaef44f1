package dev.idempotent;

import java.time.InstantSource;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * What each room of the outbox and of the Redis stream listener may know.
 */
@AnalyzeClasses(packages = "dev.idempotent", importOptions = DoNotIncludeTests.class)
class OutboxArchitectureTests {

	private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure";

	private static final String ROOT = "dev.idempotent.idempotency";

	private static final String SHARED = "dev.idempotent";

	private static final String ADVICE = "dev.idempotent.aop";

	private static final String OUTBOX = "dev.idempotent.outbox";

	private static final String TABLES = OUTBOX + ".jdbc";

	private static final String RELAY = OUTBOX + ".relay";

	private static final String HANDLER = OUTBOX + ".handler";

	private static final String ENCRYPTION = "dev.idempotent.encryption";

	private static final String DATABASE = "dev.idempotent.jdbc";

	private static final String TRANSACTION = "dev.idempotent.transaction";

	private static final String STREAM = "dev.idempotent.stream";

	private static final String CONNECTIONS = "dev.idempotent.redis";

	private static final String WORK = "dev.idempotent.concurrent";

	private static final String OUTBOX_REDIS = OUTBOX + ".redis";

	@ArchTest
	static final ArchRule streamKnowsRedisAlone = ArchitectureTests.room(STREAM, SHARED, ADVICE, CONNECTIONS, WORK,
			"java..", "org.slf4j..", "org.jspecify..", "org.springframework.aop..", "org.springframework.beans..",
			"org.springframework.context..", "org.springframework.core..", "org.springframework.util..",
			"io.lettuce..");

	@ArchTest
	static final ArchRule outboxRedisKnowsNoDatabase = ArchitectureTests.room(OUTBOX_REDIS, OUTBOX, CONNECTIONS, WORK,
			"java..", "org.slf4j..", "org.jspecify..", "org.springframework.core.io..", "org.springframework.dao..",
			"org.springframework.data.redis..", "io.lettuce..", "tools.jackson.core..");

	@ArchTest
	static final ArchRule onlyItsRoomKnowsModulith = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.modulith..");

	@ArchTest
	static final ArchRule outboxKafkaKnowsKafkasClientAlone = ArchitectureTests.room(OUTBOX + ".kafka", OUTBOX, WORK,
			"java..", "org.jspecify..", "org.apache.kafka.clients.producer..", "org.apache.kafka.common..");

	@ArchTest
	static final ArchRule thePromisesAreStrangers = noClasses().that()
		.resideInAPackage(ROOT + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(OUTBOX + "..");

	@ArchTest
	static final ArchRule theOutboxKnowsTheJdkAlone = ArchitectureTests.room(OUTBOX, SHARED, "java..",
			"org.jspecify..");

	@ArchTest
	static final ArchRule theRelayKnowsTheTablesAndNoBroker = ArchitectureTests.room(OUTBOX + ".relay", SHARED, OUTBOX,
			TABLES, WORK, "java..", "org.slf4j..", "org.jspecify..", "org.springframework.util..");

	@ArchTest
	static final ArchRule theTablesOfTheOutboxKnowNoBroker = ArchitectureTests.room(TABLES, SHARED, OUTBOX, DATABASE,
			TRANSACTION, ENCRYPTION, "java..", "javax.sql..", "org.slf4j..", "org.jspecify..",
			"org.springframework.dao..", "org.springframework.jdbc..", "org.springframework.util..", "tools.jackson..",
			"com.fasterxml.jackson.annotation");

	@ArchTest
	static final ArchRule handlersKnowTransactionsAndNoBroker = ArchitectureTests.room(HANDLER, SHARED, ADVICE, ROOT,
			OUTBOX, TABLES, TRANSACTION, RELAY, WORK, "java..", "org.slf4j..", "org.jspecify..",
			"org.springframework.beans..", "org.springframework.core..", "org.springframework.transaction..",
			"org.springframework.util..");

	@ArchTest
	static final ArchRule appendingMethodsKnowAdviceAlone = ArchitectureTests.room(OUTBOX + ".method", OUTBOX, SHARED,
			ADVICE, "java..", "org.slf4j..", "org.jspecify..", "org.aopalliance..", "org.springframework.aop..",
			"org.springframework.beans..", "org.springframework.core..", "org.springframework.expression..",
			"org.springframework.util..");

	@ArchTest
	static final ArchRule appendingKnowsTransactionsAlone = ArchitectureTests.room(OUTBOX + ".transaction", OUTBOX,
			TABLES, TRANSACTION, "java..", "org.jspecify..", "org.springframework.core..",
			"org.springframework.transaction..", "org.springframework.util..");

	@ArchTest
	static final ArchRule oneClassAloneKnowsHibernate = noClasses().that()
		.doNotHaveSimpleName("HibernateSessions")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("jakarta.persistence..", "org.hibernate..", "org.springframework.orm..");

	@ArchTest
	static final ArchRule siblingsInTheOutboxKnowTheTablesAlone = slices().matching(OUTBOX + ".(*)")
		.should()
		.notDependOnEachOther()
		.ignoreDependency(DescribedPredicate.alwaysTrue(), JavaClass.Predicates.resideInAPackage(TABLES))
		.ignoreDependency(resideInAPackage(HANDLER), resideInAPackage(RELAY));

	@ArchTest
	static final ArchRule onlyAutoConfigurationKnowsMeters = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.micrometer.core..");

	/**
	 * What an event tells its readers of the time decides nothing here, and the time at
	 * which it becomes available is stored as a delay.
	 */
	@ArchTest
	static final ArchRule eventsAndTokensAloneAreGivenTheTime = noClasses().that()
		.resideOutsideOfPackage(OUTBOX + ".transaction")
		.and()
		.doNotHaveSimpleName("OneTimeTokens")
		.and()
		.resideOutsideOfPackages(AUTOCONFIGURE + "..", "dev.idempotent.test")
		.should()
		.dependOnClassesThat()
		.areAssignableTo(InstantSource.class);

}
