package dev.idempotent;

import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * What each room may know.
 */
@AnalyzeClasses(packages = "dev.idempotent", importOptions = DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure";

	private static final String ROOT = "dev.idempotent.idempotency";

	private static final String SHARED = "dev.idempotent";

	private static final String ADVICE = "dev.idempotent.aop";

	private static final String OUTBOX = "dev.idempotent.outbox";

	private static final String ENCRYPTION = "dev.idempotent.encryption";

	private static final String DATABASE = "dev.idempotent.jdbc";

	private static final String TRANSACTION = "dev.idempotent.transaction";

	private static final String STREAM = "dev.idempotent.stream";

	private static final String CONNECTIONS = "dev.idempotent.redis";

	private static final String WORK = "dev.idempotent.concurrent";

	private static final String OUTBOX_REDIS = OUTBOX + ".redis";

	private static final String SAGA = "dev.idempotent.saga";

	private static final String STATE = "dev.idempotent.transition";

	private static final String TEST = "dev.idempotent.test";

	private static final String TOKEN = "dev.idempotent.token";

	private static final String ENGINE = ROOT + ".engine";

	private static final String CAFFEINE = ROOT + ".caffeine";

	private static final String CLIENT = ROOT + ".client";

	private static final String GRPC = ROOT + ".grpc";

	private static final String JDBC = ROOT + ".jdbc";

	private static final String CANONICAL = ROOT + ".canonical";

	private static final String KAFKA = ROOT + ".kafka";

	private static final String METHOD = ROOT + ".method";

	private static final String OPERATION = ROOT + ".operation";

	private static final String PROPAGATION = ROOT + ".propagation";

	private static final String REDIS = ROOT + ".redis";

	private static final String TOOL = ROOT + ".tool";

	private static final String WEB = ROOT + ".web";

	// A new room states below what it may know.
	@ArchTest
	static final ArchRule thereAreNoOtherRooms = classes().should()
		.resideInAnyPackage(SHARED, AUTOCONFIGURE + "..", ADVICE, STREAM, CONNECTIONS, ENCRYPTION, OUTBOX,
				OUTBOX + ".handler", OUTBOX + ".relay", OUTBOX + ".jdbc", OUTBOX + ".method", OUTBOX + ".kafka",
				OUTBOX_REDIS, OUTBOX + ".transaction", ROOT, CAFFEINE, ENGINE, CLIENT, DATABASE, GRPC, JDBC, CANONICAL,
				KAFKA, METHOD, OPERATION, PROPAGATION, REDIS, TOOL, WEB, WORK, SAGA, SAGA + ".jdbc", SAGA + ".method",
				SAGA + ".engine", SAGA + ".store", STATE, STATE + ".jdbc", TEST, TOKEN, TRANSACTION);

	@ArchTest
	static final ArchRule theSharedRootKnowsTheJdkAlone = room(SHARED, "java..", "org.jspecify..");

	@ArchTest
	static final ArchRule theSharedWorkKnowsBackoffAlone = room(WORK, "java..", "org.slf4j..", "org.jspecify..",
			"org.springframework.util.backoff..");

	@ArchTest
	static final ArchRule encryptionKnowsTheJdkAlone = room(ENCRYPTION, "java..", "javax.crypto..", "org.jspecify..");

	@ArchTest
	static final ArchRule tokensKnowTheJdkAlone = room(TOKEN, "java..", "javax.crypto..", "org.jspecify..");

	@ArchTest
	static final ArchRule theTestSupportKnowsWhatItsReadersTestWith = room(TEST, ROOT, TOOL, OUTBOX, SAGA, TRANSACTION,
			"java..", "com.sun.net.httpserver..", "com.tngtech.archunit..", "io.modelcontextprotocol..",
			"org.jspecify..", "org.assertj..", "org.awaitility..", "org.junit.jupiter.api..", "org.opentest4j..",
			"org.springframework.core.env..", "org.springframework.http..", "org.springframework.mock.web..",
			"org.springframework.test.web.servlet..", "org.springframework.transaction.support..",
			"org.springframework.util..", "org.springframework.web.context..");

	@ArchTest
	static final ArchRule onlyTestSupportKnowsLibrariesOfTests = noClasses().that()
		.resideOutsideOfPackages(TEST, AUTOCONFIGURE + ".test")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(TEST, "com.tngtech.archunit..", "org.assertj..", "org.awaitility..", "org.junit..",
				"org.opentest4j..", "org.springframework.boot.test..", "org.springframework.mock..",
				"org.springframework.test..");

	@ArchTest
	static final ArchRule theEngineKnowsNoTechnology = room(ENGINE, SHARED, ENCRYPTION, ROOT, WORK, "java..",
			"org.slf4j..", "org.jspecify..");

	@ArchTest
	static final ArchRule theRootKnowsTheJdkAlone = room(ROOT, SHARED, "java..", "org.slf4j..", "org.jspecify..");

	@ArchTest
	static final ArchRule caffeineKnowsNothingElse = room(CAFFEINE, ROOT, "java..", "org.jspecify..",
			"com.github.benmanes.caffeine..");

	@ArchTest
	static final ArchRule clientKnowsSpringsHttpClientsAlone = room(CLIENT, ROOT, "java..", "org.slf4j..",
			"org.jspecify..", "org.springframework.http", "org.springframework.http.client..",
			"org.springframework.util..", "org.springframework.web.client", "tools.jackson..");

	@ArchTest
	static final ArchRule grpcKnowsItsApiAlone = room(GRPC, SHARED, ROOT, "java..", "org.jspecify..", "io.grpc..");

	@ArchTest
	static final ArchRule connectionsKnowLettuceAlone = room(CONNECTIONS, "java..", "org.jspecify..",
			"org.springframework.core.io..", "org.springframework.data.redis..", "io.lettuce..");

	@ArchTest
	static final ArchRule jdbcKnowsTransactionsAndNoServlets = room(JDBC, SHARED, ROOT, ENGINE, DATABASE, TRANSACTION,
			WORK, "java..", "javax.sql..", "org.slf4j..", "org.jspecify..", "org.springframework.beans..",
			"org.springframework.dao..", "org.springframework.jdbc..", "org.springframework.transaction..",
			"org.springframework.util..");

	@ArchTest
	static final ArchRule theCommonOfTablesKnowsTransactionsAlone = room(DATABASE, SHARED, WORK, "java..",
			"javax.sql..", "org.slf4j..", "org.jspecify..", "org.springframework.beans..", "org.springframework.dao..",
			"org.springframework.jdbc..", "org.springframework.transaction..", "org.springframework.util..",
			"jakarta.persistence..", "org.hibernate..", "org.springframework.orm..");

	@ArchTest
	static final ArchRule theKernelOfTransactionsKnowsNoPromise = room(TRANSACTION, SHARED, DATABASE, WORK, "java..",
			"javax.sql..", "org.slf4j..", "org.jspecify..", "org.springframework.beans..", "org.springframework.core",
			"org.springframework.dao..", "org.springframework.jdbc..", "org.springframework.orm..",
			"org.springframework.transaction..", "org.springframework.util..", "org.hibernate..",
			"jakarta.persistence..");

	/**
	 * The constants of a status are inlined, but only a completion is told of one.
	 */
	@ArchTest
	static final ArchRule oneClassJudgesHowATransactionHasEnded = noMethods().that()
		.areDeclaredInClassesThat()
		.haveNameNotMatching(".*\\.transaction\\.(ObservedTransaction.Callbacks)")
		.and()
		.areDeclaredInClassesThat()
		.areAssignableTo(TransactionSynchronization.class)
		.should()
		.haveName("afterCompletion")
		.orShould()
		.haveName("afterCommit");

	@ArchTest
	static final ArchRule nobodyIsATransactionManager = noClasses().should().beAssignableTo(TransactionManager.class);

	@ArchTest
	static final ArchRule transitionsKnowTheJdkAlone = room(STATE, "java..", "org.jspecify..");

	@ArchTest
	static final ArchRule guardedTablesKnowTheTransactionOfTheCallerAlone = room(STATE + ".jdbc", STATE, DATABASE,
			TRANSACTION, "java..", "javax.sql..", "org.jspecify..", "org.slf4j..", "org.springframework.dao..",
			"org.springframework.jdbc..", "org.springframework.transaction",
			"org.springframework.transaction.support..", "org.springframework.util..");

	@ArchTest
	static final ArchRule theStoreOfSagasKnowsNoTechnology = room(SAGA + ".store", SHARED, ROOT, SAGA, "java..",
			"org.jspecify..");

	@ArchTest
	static final ArchRule theTablesOfSagasKnowTransactionsAlone = room(SAGA + ".jdbc", SHARED, ROOT, SAGA,
			SAGA + ".engine", SAGA + ".store", DATABASE, TRANSACTION, "java..", "javax.sql..", "org.slf4j..",
			"org.jspecify..", "org.springframework.dao..", "org.springframework.jdbc..",
			"org.springframework.transaction.support..");

	@ArchTest
	static final ArchRule canonicalFormsKnowJacksonsTokensAlone = room(CANONICAL, ROOT, "java..", "javax.xml..",
			"org.jspecify..", "tools.jackson.core..", "org.springframework.util");

	@ArchTest
	static final ArchRule kafkaKnowsListenerContainersAlone = room(KAFKA, ROOT, "java..", "org.jspecify..",
			"org.apache.kafka.clients.consumer..", "org.springframework.kafka.listener..",
			"org.springframework.util.backoff..");

	@ArchTest
	static final ArchRule methodKnowsNoStoreAndNoServlets = room(METHOD, SHARED, ROOT, ENGINE, CANONICAL, OPERATION,
			TOOL, TRANSACTION, ADVICE, "java..", "org.slf4j..", "org.jspecify..", "org.aopalliance..",
			"org.springframework.aop..", "org.springframework.beans..", "org.springframework.core..",
			"org.springframework.expression..", "org.springframework.transaction..", "org.springframework.util..",
			"com.fasterxml.jackson.annotation..", "tools.jackson..");

	@ArchTest
	static final ArchRule adviceKnowsSpringsAdviceExpressionsAndThreadsAlone = room(ADVICE, SHARED, "java..",
			"org.slf4j..", "org.jspecify..", "org.aopalliance..", "org.springframework.aop..",
			"org.springframework.beans..", "org.springframework.context.i18n..", "org.springframework.core..",
			"org.springframework.expression..", "org.springframework.security.core.context..",
			"org.springframework.transaction.interceptor..", "org.springframework.util..",
			"org.springframework.web.context.request..");

	@ArchTest
	static final ArchRule operationKnowsExpressionsAlone = room(OPERATION, SHARED, ROOT, ADVICE, CANONICAL, "java..",
			"org.jspecify..", "org.springframework.expression..", "org.springframework.format..", "tools.jackson..");

	@ArchTest
	static final ArchRule propagationKnowsMicrometersContextsAlone = room(PROPAGATION, ROOT, "java..", "org.jspecify..",
			"io.micrometer.context..");

	@ArchTest
	static final ArchRule redisKnowsNoServlets = room(REDIS, ROOT, CONNECTIONS, "java..", "org.slf4j..",
			"org.jspecify..", "org.springframework.core..", "org.springframework.dao..",
			"org.springframework.data.redis..", "io.lettuce..");

	@ArchTest
	static final ArchRule toolsKnowSpringAiAndItsServersAlone = room(TOOL, ROOT, "java..", "org.slf4j..",
			"org.jspecify..", "io.modelcontextprotocol..", "org.aopalliance..", "org.springframework.ai..",
			"org.springframework.aop..", "org.springframework.beans..", "org.springframework.core..",
			"org.springframework.util..", "tools.jackson.databind..", "reactor.core.publisher", "reactor.util.context");

	@ArchTest
	static final ArchRule webKnowsNoStore = room(WEB, SHARED, ROOT, ENGINE, ADVICE, CANONICAL, OPERATION, WORK, TOKEN,
			TRANSACTION, "java..", "org.slf4j..", "org.jspecify..", "jakarta.servlet..", "org.aopalliance..",
			"org.springframework.aop..", "org.springframework.beans.factory", "org.springframework.core..",
			"org.springframework.expression..", "org.springframework.format..", "org.springframework.http..",
			"org.springframework.stereotype..", "org.springframework.util..", "org.springframework.web..",
			"tools.jackson..", "io.swagger.v3.oas.models..", "org.springdoc.core.customizers");

	@ArchTest
	static final ArchRule onlyAutoConfigurationKnowsBoot = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.boot..");

	@ArchTest
	static final ArchRule nothingKnowsTheAutoConfiguration = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE + "..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE + "..");

	@ArchTest
	static final ArchRule noClassDecidesByTheClockOfThisMachine = noClasses().that()
		// Its time is for operators.
		.doNotHaveFullyQualifiedName("dev.idempotent.idempotency.engine.ClaimRequest")
		.and()
		// Its time is for the consumers of events.
		.doNotHaveFullyQualifiedName("dev.idempotent.autoconfigure.outbox.OutboxAutoConfiguration")
		.and()
		// It turns the times that applications state into delays.
		.doNotHaveFullyQualifiedName("dev.idempotent.outbox.jdbc.EventTable")
		.and()
		// The one that decides: a token has no store, and so no other clock.
		.doNotHaveFullyQualifiedName("dev.idempotent.token.OneTimeTokens")
		.and()
		// One process is all that shares it.
		.doNotHaveFullyQualifiedName("dev.idempotent.test.InMemoryIdempotencyStore")
		.should()
		.callMethod(System.class, "currentTimeMillis")
		.orShould()
		.callMethod(Instant.class, "now")
		.orShould()
		.callMethod(InstantSource.class, "system")
		.orShould()
		.dependOnClassesThat()
		.areAssignableTo(Clock.class);

	@ArchTest
	static final ArchRule siblingsAreStrangers = slices().matching(ROOT + ".(*)")
		.should()
		.notDependOnEachOther()
		.ignoreDependency(resideInAnyPackage(JDBC, METHOD, WEB), resideInAPackage(ENGINE))
		.ignoreDependency(resideInAnyPackage(METHOD, WEB), resideInAnyPackage(CANONICAL, OPERATION))
		.ignoreDependency(resideInAPackage(METHOD), resideInAPackage(TOOL))
		.ignoreDependency(resideInAPackage(OPERATION), resideInAPackage(CANONICAL));

	@ArchTest
	static final ArchRule roomsFormNoCycle = slices().matching("dev.idempotent.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule roomsAreNullMarked = classes().should(ArchCondition.from(DescribedPredicate
		.describe("be in a @NullMarked package", (type) -> type.getPackage().isAnnotatedWith(NullMarked.class))));

	@ArchTest
	static final ArchRule namesSayTheRole = noClasses().should()
		.haveNameMatching(".*\\b(\\w*(Utils?|Helper|Manager|Impl)|Base[A-Z]\\w*)(\\$.*)?");

	@ArchTest
	static final ArchRule roomsAreNamedForPromisesOrTechnologies = noClasses().should()
		.resideInAnyPackage("..model..", "..spi..", "..service..", "..util..", "..common..", "..config..", "..impl..");

	static ArchRule room(String room, String... mayKnow) {
		return classes().that()
			.resideInAPackage(room)
			.should()
			.onlyDependOnClassesThat(resideInAPackage(room).or(resideInAnyPackage(mayKnow)));
	}

}
