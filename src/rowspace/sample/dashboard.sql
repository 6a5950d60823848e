-- The dashboard of an invented statistics office: 200 counting queries about the bundled sample of 50,000 people.
-- Read by rowspace.workload.sql against the domain of people.toml (age, sex, region with its zones, education).
-- Every statement is a group of answers, called by the comment before it.

-- ---- Overview: the front page ------------------------------------------------------------------

-- name: population
SELECT COUNT(*) AS people FROM people;

-- name: population by sex
SELECT sex, COUNT(*) AS people FROM people GROUP BY sex;

-- name: population by region
SELECT region, COUNT(*) AS people FROM people GROUP BY region ORDER BY region;

-- name: population by zone
SELECT zone, COUNT(*) AS people FROM people GROUP BY zone;

-- name: population by education
SELECT education, COUNT(*) AS people FROM people GROUP BY education;

-- name: population by age
SELECT age, COUNT(*) AS people FROM people GROUP BY age ORDER BY age;

-- name: population pyramid
SELECT age, sex, COUNT(*) AS people FROM people GROUP BY age, sex;

-- name: five-year ages
SELECT CASE WHEN age < 5 THEN '0-4' WHEN age < 10 THEN '5-9' WHEN age < 15 THEN '10-14' WHEN age < 20 THEN '15-19' WHEN age < 25 THEN '20-24'
         WHEN age < 30 THEN '25-29' WHEN age < 35 THEN '30-34' WHEN age < 40 THEN '35-39' WHEN age < 45 THEN '40-44' WHEN age < 50 THEN '45-49'
         WHEN age < 55 THEN '50-54' WHEN age < 60 THEN '55-59' WHEN age < 65 THEN '60-64' WHEN age < 70 THEN '65-69' WHEN age < 75 THEN '70-74'
         WHEN age < 80 THEN '75-79' WHEN age < 85 THEN '80-84' WHEN age < 90 THEN '85-89' WHEN age < 95 THEN '90-94'
         ELSE '95-99' END AS ages,
       COUNT(*) AS people
FROM people GROUP BY ages;

-- name: decades by sex
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       sex, COUNT(*) AS people
FROM people GROUP BY decade, sex;

-- name: life stages
SELECT CASE WHEN age < 6 THEN 'infant' WHEN age < 18 THEN 'school age' WHEN age < 30 THEN 'young adult'
         WHEN age < 65 THEN 'adult' ELSE 'senior' END AS stage,
       COUNT(*) AS people
FROM people GROUP BY stage;

-- name: regions and sexes, with totals
SELECT region, sex, COUNT(*) AS people FROM people GROUP BY CUBE (region, sex);

-- name: zones and regions, with subtotals
SELECT zone, region, COUNT(*) AS people FROM people GROUP BY ROLLUP (zone, region);

-- name: education by sex and by zone
SELECT education, sex, zone, COUNT(*) AS people FROM people
GROUP BY GROUPING SETS ((education, sex), (education, zone), (education));

-- name: headline counts
SELECT COUNT(*) FILTER (WHERE age < 18) AS children,
       COUNT(*) FILTER (WHERE age BETWEEN 18 AND 64) AS working_age,
       COUNT(*) FILTER (WHERE age >= 65) AS seniors
FROM people;

-- name: women and men in work age
SELECT SUM(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) AS women,
       SUM(CASE WHEN sex = 'M' THEN 1 ELSE 0 END) AS men
FROM people WHERE age >= 18 AND age < 65;

-- name: dependants
SELECT COUNT(*) AS dependants FROM people WHERE age < 18 OR age >= 65;

-- name: region by education
SELECT region, education, COUNT(*) AS people FROM people GROUP BY region, education;

-- name: life stages by region
SELECT region, CASE WHEN age < 6 THEN 'infant' WHEN age < 18 THEN 'school age' WHEN age < 30 THEN 'young adult'
         WHEN age < 65 THEN 'adult' ELSE 'senior' END AS stage,
       COUNT(*) AS people
FROM people GROUP BY region, stage;

-- name: life stages by education
SELECT education, CASE WHEN age < 6 THEN 'infant' WHEN age < 18 THEN 'school age' WHEN age < 30 THEN 'young adult'
         WHEN age < 65 THEN 'adult' ELSE 'senior' END AS stage,
       COUNT(*) AS people
FROM people GROUP BY education, stage;

-- name: graduates by region
SELECT region, COUNT(*) AS graduates FROM people
WHERE education IN ('bachelor', 'master or higher') GROUP BY region;


-- ---- Region page: Capital ----------------------------------------------------------------------

-- name: Capital: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Capital';

-- name: Capital: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Capital' AND sex = 'F';

-- name: Capital: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Capital' AND age < 18;

-- name: Capital: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Capital' AND age BETWEEN 18 AND 64;

-- name: Capital: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Capital' AND age >= 65 GROUP BY sex;

-- name: Capital: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Capital';

-- name: Capital: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Capital' GROUP BY decade;

-- name: Capital: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Capital' GROUP BY education;

-- name: Capital: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Capital' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Capital: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Capital' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Harbour ----------------------------------------------------------------------

-- name: Harbour: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Harbour';

-- name: Harbour: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Harbour' AND sex = 'F';

-- name: Harbour: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Harbour' AND age < 18;

-- name: Harbour: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Harbour' AND age BETWEEN 18 AND 64;

-- name: Harbour: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Harbour' AND age >= 65 GROUP BY sex;

-- name: Harbour: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Harbour';

-- name: Harbour: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Harbour' GROUP BY decade;

-- name: Harbour: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Harbour' GROUP BY education;

-- name: Harbour: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Harbour' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Harbour: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Harbour' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Midlands ---------------------------------------------------------------------

-- name: Midlands: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Midlands';

-- name: Midlands: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Midlands' AND sex = 'F';

-- name: Midlands: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Midlands' AND age < 18;

-- name: Midlands: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Midlands' AND age BETWEEN 18 AND 64;

-- name: Midlands: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Midlands' AND age >= 65 GROUP BY sex;

-- name: Midlands: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Midlands';

-- name: Midlands: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Midlands' GROUP BY decade;

-- name: Midlands: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Midlands' GROUP BY education;

-- name: Midlands: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Midlands' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Midlands: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Midlands' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Northmoor --------------------------------------------------------------------

-- name: Northmoor: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Northmoor';

-- name: Northmoor: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Northmoor' AND sex = 'F';

-- name: Northmoor: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Northmoor' AND age < 18;

-- name: Northmoor: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Northmoor' AND age BETWEEN 18 AND 64;

-- name: Northmoor: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Northmoor' AND age >= 65 GROUP BY sex;

-- name: Northmoor: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Northmoor';

-- name: Northmoor: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Northmoor' GROUP BY decade;

-- name: Northmoor: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Northmoor' GROUP BY education;

-- name: Northmoor: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Northmoor' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Northmoor: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Northmoor' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Eastvale ---------------------------------------------------------------------

-- name: Eastvale: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Eastvale';

-- name: Eastvale: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Eastvale' AND sex = 'F';

-- name: Eastvale: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Eastvale' AND age < 18;

-- name: Eastvale: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Eastvale' AND age BETWEEN 18 AND 64;

-- name: Eastvale: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Eastvale' AND age >= 65 GROUP BY sex;

-- name: Eastvale: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Eastvale';

-- name: Eastvale: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Eastvale' GROUP BY decade;

-- name: Eastvale: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Eastvale' GROUP BY education;

-- name: Eastvale: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Eastvale' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Eastvale: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Eastvale' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Southshore -------------------------------------------------------------------

-- name: Southshore: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Southshore';

-- name: Southshore: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Southshore' AND sex = 'F';

-- name: Southshore: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Southshore' AND age < 18;

-- name: Southshore: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Southshore' AND age BETWEEN 18 AND 64;

-- name: Southshore: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Southshore' AND age >= 65 GROUP BY sex;

-- name: Southshore: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Southshore';

-- name: Southshore: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Southshore' GROUP BY decade;

-- name: Southshore: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Southshore' GROUP BY education;

-- name: Southshore: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Southshore' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Southshore: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Southshore' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Westridge --------------------------------------------------------------------

-- name: Westridge: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Westridge';

-- name: Westridge: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Westridge' AND sex = 'F';

-- name: Westridge: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Westridge' AND age < 18;

-- name: Westridge: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Westridge' AND age BETWEEN 18 AND 64;

-- name: Westridge: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Westridge' AND age >= 65 GROUP BY sex;

-- name: Westridge: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Westridge';

-- name: Westridge: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Westridge' GROUP BY decade;

-- name: Westridge: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Westridge' GROUP BY education;

-- name: Westridge: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Westridge' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Westridge: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Westridge' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Region page: Highlands --------------------------------------------------------------------

-- name: Highlands: people
SELECT COUNT(*) AS people FROM people WHERE region = 'Highlands';

-- name: Highlands: women
SELECT COUNT(*) AS women FROM people WHERE region = 'Highlands' AND sex = 'F';

-- name: Highlands: children
SELECT COUNT(*) AS children FROM people WHERE region = 'Highlands' AND age < 18;

-- name: Highlands: working age
SELECT COUNT(*) AS adults FROM people WHERE region = 'Highlands' AND age BETWEEN 18 AND 64;

-- name: Highlands: seniors by sex
SELECT sex, COUNT(*) AS seniors FROM people WHERE region = 'Highlands' AND age >= 65 GROUP BY sex;

-- name: Highlands: over 80
SELECT COUNT(*) AS very_old FROM people WHERE age >= 80 AND region = 'Highlands';

-- name: Highlands: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE region = 'Highlands' GROUP BY decade;

-- name: Highlands: education
SELECT education, COUNT(*) AS people FROM people WHERE region = 'Highlands' GROUP BY education;

-- name: Highlands: graduates over 25
SELECT COUNT(*) AS graduates FROM people
WHERE region = 'Highlands' AND age >= 25 AND education IN ('bachelor', 'master or higher');

-- name: Highlands: young without upper secondary
SELECT COUNT(*) AS young FROM people
WHERE region = 'Highlands' AND age BETWEEN 18 AND 24 AND education IN ('none', 'primary', 'lower secondary');


-- ---- Education page: none ----------------------------------------------------------------------

-- name: none: people
SELECT COUNT(*) AS people FROM people WHERE education = 'none';

-- name: none: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'none' GROUP BY sex;

-- name: none: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'none' GROUP BY region;

-- name: none: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'none' GROUP BY decade;

-- name: none: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'none' AND age < 30;

-- name: none: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'none' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: none: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'none' AND age >= 65;


-- ---- Education page: primary -------------------------------------------------------------------

-- name: primary: people
SELECT COUNT(*) AS people FROM people WHERE education = 'primary';

-- name: primary: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'primary' GROUP BY sex;

-- name: primary: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'primary' GROUP BY region;

-- name: primary: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'primary' GROUP BY decade;

-- name: primary: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'primary' AND age < 30;

-- name: primary: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'primary' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: primary: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'primary' AND age >= 65;


-- ---- Education page: lower secondary -----------------------------------------------------------

-- name: lower secondary: people
SELECT COUNT(*) AS people FROM people WHERE education = 'lower secondary';

-- name: lower secondary: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'lower secondary' GROUP BY sex;

-- name: lower secondary: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'lower secondary' GROUP BY region;

-- name: lower secondary: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'lower secondary' GROUP BY decade;

-- name: lower secondary: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'lower secondary' AND age < 30;

-- name: lower secondary: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'lower secondary' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: lower secondary: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'lower secondary' AND age >= 65;


-- ---- Education page: upper secondary -----------------------------------------------------------

-- name: upper secondary: people
SELECT COUNT(*) AS people FROM people WHERE education = 'upper secondary';

-- name: upper secondary: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'upper secondary' GROUP BY sex;

-- name: upper secondary: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'upper secondary' GROUP BY region;

-- name: upper secondary: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'upper secondary' GROUP BY decade;

-- name: upper secondary: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'upper secondary' AND age < 30;

-- name: upper secondary: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'upper secondary' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: upper secondary: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'upper secondary' AND age >= 65;


-- ---- Education page: bachelor ------------------------------------------------------------------

-- name: bachelor: people
SELECT COUNT(*) AS people FROM people WHERE education = 'bachelor';

-- name: bachelor: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'bachelor' GROUP BY sex;

-- name: bachelor: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'bachelor' GROUP BY region;

-- name: bachelor: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'bachelor' GROUP BY decade;

-- name: bachelor: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'bachelor' AND age < 30;

-- name: bachelor: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'bachelor' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: bachelor: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'bachelor' AND age >= 65;


-- ---- Education page: master or higher ----------------------------------------------------------

-- name: master or higher: people
SELECT COUNT(*) AS people FROM people WHERE education = 'master or higher';

-- name: master or higher: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'master or higher' GROUP BY sex;

-- name: master or higher: by region
SELECT region, COUNT(*) AS people FROM people WHERE education = 'master or higher' GROUP BY region;

-- name: master or higher: decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       COUNT(*) AS people
FROM people WHERE education = 'master or higher' GROUP BY decade;

-- name: master or higher: under 30
SELECT COUNT(*) AS young FROM people WHERE education = 'master or higher' AND age < 30;

-- name: master or higher: women 25 to 49
SELECT COUNT(*) AS women FROM people WHERE education = 'master or higher' AND sex = 'F' AND age >= 25 AND age < 50;

-- name: master or higher: retired
SELECT COUNT(*) AS retired FROM people WHERE education = 'master or higher' AND age >= 65;


-- ---- Zone page: Centre -------------------------------------------------------------------------

-- name: Centre: people by sex
SELECT sex, COUNT(*) AS people FROM people WHERE zone = 'Centre' GROUP BY sex;

-- name: Centre: pyramid in decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       sex, COUNT(*) AS people
FROM people WHERE zone = 'Centre' GROUP BY decade, sex;

-- name: Centre: education of adults
SELECT education, COUNT(*) AS adults FROM people WHERE zone = 'Centre' AND age >= 25 GROUP BY education;

-- name: Centre: school children
SELECT COUNT(*) AS pupils FROM people WHERE zone = 'Centre' AND age BETWEEN 6 AND 15;

-- name: Centre: not yet or no longer working
SELECT COUNT(*) AS dependants FROM people WHERE zone = 'Centre' AND NOT (age >= 18 AND age < 65);

-- name: Centre: seniors without schooling
SELECT COUNT(*) AS seniors FROM people WHERE zone = 'Centre' AND age >= 65 AND education = 'none';


-- ---- Zone page: Coast --------------------------------------------------------------------------

-- name: Coast: people by sex
SELECT sex, COUNT(*) AS people FROM people WHERE zone = 'Coast' GROUP BY sex;

-- name: Coast: pyramid in decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       sex, COUNT(*) AS people
FROM people WHERE zone = 'Coast' GROUP BY decade, sex;

-- name: Coast: education of adults
SELECT education, COUNT(*) AS adults FROM people WHERE zone = 'Coast' AND age >= 25 GROUP BY education;

-- name: Coast: school children
SELECT COUNT(*) AS pupils FROM people WHERE zone = 'Coast' AND age BETWEEN 6 AND 15;

-- name: Coast: not yet or no longer working
SELECT COUNT(*) AS dependants FROM people WHERE zone = 'Coast' AND NOT (age >= 18 AND age < 65);

-- name: Coast: seniors without schooling
SELECT COUNT(*) AS seniors FROM people WHERE zone = 'Coast' AND age >= 65 AND education = 'none';


-- ---- Zone page: Uplands ------------------------------------------------------------------------

-- name: Uplands: people by sex
SELECT sex, COUNT(*) AS people FROM people WHERE zone = 'Uplands' GROUP BY sex;

-- name: Uplands: pyramid in decades
SELECT CASE WHEN age < 10 THEN '0s' WHEN age < 20 THEN '10s' WHEN age < 30 THEN '20s' WHEN age < 40 THEN '30s' WHEN age < 50 THEN '40s'
         WHEN age < 60 THEN '50s' WHEN age < 70 THEN '60s' WHEN age < 80 THEN '70s' WHEN age < 90 THEN '80s' ELSE '90s' END AS decade,
       sex, COUNT(*) AS people
FROM people WHERE zone = 'Uplands' GROUP BY decade, sex;

-- name: Uplands: education of adults
SELECT education, COUNT(*) AS adults FROM people WHERE zone = 'Uplands' AND age >= 25 GROUP BY education;

-- name: Uplands: school children
SELECT COUNT(*) AS pupils FROM people WHERE zone = 'Uplands' AND age BETWEEN 6 AND 15;

-- name: Uplands: not yet or no longer working
SELECT COUNT(*) AS dependants FROM people WHERE zone = 'Uplands' AND NOT (age >= 18 AND age < 65);

-- name: Uplands: seniors without schooling
SELECT COUNT(*) AS seniors FROM people WHERE zone = 'Uplands' AND age >= 65 AND education = 'none';


-- ---- Service planning: ages that an office provides for ----------------------------------------

-- name: crèche: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 0 AND 2 GROUP BY region;

-- name: crèche: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 0 AND 2 GROUP BY sex;

-- name: kindergarten: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 3 AND 5 GROUP BY region;

-- name: kindergarten: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 3 AND 5 GROUP BY sex;

-- name: primary school: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 6 AND 9 GROUP BY region;

-- name: primary school: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 6 AND 9 GROUP BY sex;

-- name: lower school: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 10 AND 15 GROUP BY region;

-- name: lower school: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 10 AND 15 GROUP BY sex;

-- name: upper school: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 16 AND 18 GROUP BY region;

-- name: upper school: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 16 AND 18 GROUP BY sex;

-- name: first job: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 19 AND 24 GROUP BY region;

-- name: first job: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 19 AND 24 GROUP BY sex;

-- name: young families: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 25 AND 34 GROUP BY region;

-- name: young families: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 25 AND 34 GROUP BY sex;

-- name: mid career: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 35 AND 49 GROUP BY region;

-- name: mid career: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 35 AND 49 GROUP BY sex;

-- name: late career: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 50 AND 64 GROUP BY region;

-- name: late career: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 50 AND 64 GROUP BY sex;

-- name: young retired: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 65 AND 74 GROUP BY region;

-- name: young retired: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 65 AND 74 GROUP BY sex;

-- name: old: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 75 AND 84 GROUP BY region;

-- name: old: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 75 AND 84 GROUP BY sex;

-- name: very old: by region
SELECT region, COUNT(*) AS people FROM people WHERE age BETWEEN 85 AND 99 GROUP BY region;

-- name: very old: by sex
SELECT sex, COUNT(*) AS people FROM people WHERE age BETWEEN 85 AND 99 GROUP BY sex;


-- ---- Campaigns ---------------------------------------------------------------------------------

-- name: screening: women 50 to 69
SELECT COUNT(*) AS invited FROM people WHERE sex = 'F' AND age BETWEEN 50 AND 69;

-- name: screening: men 55 to 74
SELECT COUNT(*) AS invited FROM people WHERE sex = 'M' AND age BETWEEN 55 AND 74;

-- name: vaccination: over 60 by zone
SELECT zone, COUNT(*) AS invited FROM people WHERE age >= 60 GROUP BY zone;

-- name: voters by region
SELECT region, COUNT(*) AS voters FROM people WHERE age >= 18 GROUP BY region;

-- name: voters by sex
SELECT sex, COUNT(*) AS voters FROM people WHERE age >= 18 GROUP BY sex;

-- name: first-time voters
SELECT COUNT(*) AS voters FROM people WHERE age BETWEEN 18 AND 21;

-- name: outside the capital
SELECT COUNT(*) AS people FROM people WHERE region <> 'Capital';

-- name: coast or capital
SELECT COUNT(*) AS people FROM people WHERE zone = 'Coast' OR region = 'Capital';

-- name: adult education offer
SELECT COUNT(*) AS offered FROM people
WHERE age BETWEEN 25 AND 59 AND education IN ('none', 'primary');

-- name: student housing
SELECT region, COUNT(*) AS students FROM people
WHERE age BETWEEN 19 AND 26 AND education IN ('upper secondary', 'bachelor') AND zone <> 'Uplands' GROUP BY region;

-- name: support: young or without schooling
SELECT COUNT(*) AS supported FROM people WHERE age < 21 OR (age >= 65 AND education = 'none');

-- name: women in the uplands over 75
SELECT COUNT(*) AS women FROM people WHERE zone = 'Uplands' AND sex = 'F' AND age >= 75;

-- name: centenarians to come
SELECT age, COUNT(*) AS people FROM people WHERE age >= 95 GROUP BY age;

-- name: master or higher under 40 by sex
SELECT sex, COUNT(*) AS people FROM people WHERE education = 'master or higher' AND age < 40 GROUP BY sex;

-- name: pupils by age
SELECT age, COUNT(*) AS pupils FROM people WHERE age BETWEEN 6 AND 18 GROUP BY age;

-- name: pupils by zone and sex
SELECT zone, sex, COUNT(*) AS pupils FROM people WHERE age BETWEEN 6 AND 18 GROUP BY zone, sex;
